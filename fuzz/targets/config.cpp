#include "kvcheck/model/weights/config.h"

#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {

bool config(Input input) {
  const Result<model::ModelConfig> parsed = model::parse_config(text_of(input));
  if (!parsed) return refused(parsed.error());
  KV_CHECK(model::check_config(*parsed).has_value());
  KV_CHECK(parsed->heads % parsed->kv_heads == 0 && parsed->rope.dims % 2 == 0);
  KV_CHECK(parsed->rope.dims <= parsed->head_dim && std::isfinite(parsed->epsilon));
  if (parsed->rope.dims > 65536) return true;
  const std::vector<double> frequencies = model::rope_frequencies(*parsed);
  KV_CHECK(frequencies.size() == parsed->rope.dims / 2);
  for (const double frequency : frequencies) {
    KV_CHECK(std::isfinite(frequency) && frequency >= 0);
  }
  return true;
}

}  // namespace kv::fuzz
