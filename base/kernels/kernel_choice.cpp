#include "kvcheck/base/kernels/kernel_choice.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/text.h"

namespace kv {

Result<void> check_kernel_choice() {
  const char* requested = std::getenv("KV_KERNEL");
  if (requested == nullptr || *requested == 0 || kernels().name == requested) return {};
  constexpr std::array<std::string_view, 2> names = {"avx512", "scalar"};
  if (std::ranges::find(names, requested) == names.end()) {
    return malformed(unknown_word("KV_KERNEL", requested, names));
  }
  return Error{Error::Kind::unsupported, "KV_KERNEL asks for " + std::string(requested) +
                                             ", which this machine does not run; expected " +
                                             std::string(kernels().name)};
}

}  // namespace kv
