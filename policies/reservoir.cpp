#include "policies/reservoir.h"

#include "base/check.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir(std::string_view algorithm) {
  if (algorithm == "l") return make_reservoir_l();
  if (algorithm == "bottom-k") return make_reservoir_bottom_k();
  KV_CHECK(algorithm == "r");
  return make_reservoir_r();
}

}  // namespace kv
