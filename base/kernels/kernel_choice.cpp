#include "kvcheck/base/kernels/kernel_choice.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

// The names of what this machine runs, without `except`.
std::string supported_names(std::string_view except) {
  std::vector<std::string> names;
  for (const Kernels* supported : supported_kernels()) {
    if (supported->name != except) names.emplace_back(supported->name);
  }
  return join(names, ", ");
}

}  // namespace

Result<void> check_kernel_choice() {
  const char* requested = std::getenv("KV_KERNEL");
  if (requested == nullptr || *requested == 0 || kernels().name == requested) return {};
  constexpr std::array<std::string_view, 5> known = {"avx2", "avx512", "sse4", "neon", "scalar"};
  if (std::ranges::find(known, requested) == known.end()) {
    return malformed(unknown_word("KV_KERNEL", requested, known));
  }
  return Error{Error::Kind::unsupported, "KV_KERNEL asks for " + std::string(requested) +
                                             ", which this machine does not run; expected " +
                                             supported_names("")};
}

std::string selected_kernels() {
  const std::string_view name = kernels().name;
  const std::string others = supported_names(name);
  return std::string(name) + (others.empty() ? "" : " (this machine also runs " + others + ")");
}

}  // namespace kv
