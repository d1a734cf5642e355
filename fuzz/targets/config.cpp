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
  if (parsed->head_dim > 65536) return true;
  for (const auto rotation :
       {model::LayerRotation::main, model::LayerRotation::local, model::LayerRotation::none}) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{1} << 20}) {
      const auto frequencies = model::rope_frequencies(*parsed, rotation, length);
      KV_CHECK(frequencies.size() == model::rope_of(*parsed, rotation).dims / 2);
      for (const double frequency : frequencies) {
        KV_CHECK(std::isfinite(frequency) && frequency >= 0);
      }
    }
  }
  for (const model::LayerSettings& layer : parsed->by_layer) {
    KV_CHECK(std::isfinite(layer.query_scale) && layer.query_scale > 0);
  }
  return true;
}

}  // namespace kv::fuzz
