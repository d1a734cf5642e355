#include "kvcheck/base/random/philox_many.h"

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"

namespace kv {

void philox_sixteen(const PhiloxRun& run, std::array<std::uint64_t, 16>& out) {
#ifdef __x86_64__
  // Follows the kernels, so that KV_KERNEL=scalar covers this function too.
  static const bool wide = kernels().name == "avx512";
  if (wide) {
    philox_sixteen_avx512(run, out);
    return;
  }
#endif
  const Rng rng(run.seed, run.stream);
  for (std::uint32_t i = 0; i < 16; ++i) out[i] = rng.bits(run.first + i, run.index);
}

}  // namespace kv
