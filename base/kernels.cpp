#include "base/kernels.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/kernels_detail.h"
#include "base/words.h"

namespace kv {
namespace {

bool has_avx512() {
  return static_cast<bool>(__builtin_cpu_supports("avx512f")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512bw")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512vl")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512dq"));
}

std::vector<const Kernels*> find_supported() {
  std::vector<const Kernels*> found;
  if (has_avx512()) found.push_back(&avx512_kernels);
  found.push_back(&scalar_kernels);
  return found;
}

const Kernels& choose() {
  const char* wanted = std::getenv("KV_KERNEL");
  for (const Kernels* candidate : supported_kernels()) {
    if (wanted != nullptr && candidate->name == wanted) return *candidate;
  }
  return *supported_kernels().front();
}

}  // namespace

Result<void> check_kernel_choice() {
  const char* wanted = std::getenv("KV_KERNEL");
  if (wanted == nullptr || *wanted == 0 || kernels().name == wanted) return {};
  constexpr std::array<std::string_view, 2> names = {"avx512", "scalar"};
  if (std::ranges::find(names, wanted) == names.end()) {
    return malformed(unknown_word("KV_KERNEL", wanted, names));
  }
  return Error{Error::Kind::unsupported, "KV_KERNEL asks for " + std::string(wanted) +
                                             ", which this machine does not run; expected " +
                                             std::string(kernels().name)};
}

std::span<const Kernels* const> supported_kernels() {
  static const std::vector<const Kernels*> found = find_supported();
  return found;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace kv
