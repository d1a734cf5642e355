#include "kvcheck/base/kernels/kernels.h"

#include <cstdlib>
#include <vector>

#include "kvcheck/base/kernels/kernels_detail.h"

namespace kv {
namespace {

// All instruction sets that the *_avx512.cpp sources are compiled for. A machine that has them has
// popcnt too.
bool has_avx512() {
  return static_cast<bool>(__builtin_cpu_supports("avx512f")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512bw")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512vl")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512dq"));
}

std::vector<const Kernels*> find_supported() {
  std::vector<const Kernels*> found;
  // The best first, because select() takes the first by default.
  if (has_avx512()) found.push_back(&avx512_kernels);
  found.push_back(&scalar_kernels);
  return found;
}

// A name that this machine cannot serve is ignored here; check_kernel_choice() reports it.
const Kernels& select() {
  const char* requested = std::getenv("KV_KERNEL");
  for (const Kernels* candidate : supported_kernels()) {
    if (requested != nullptr && candidate->name == requested) return *candidate;
  }
  return *supported_kernels().front();
}

}  // namespace

std::string_view number_name(Number number) {
  switch (number) {
    case Number::f32:
      return "f32";
    case Number::f16:
      return "f16";
    case Number::bf16:
      return "bf16";
  }
  return "";
}

std::span<const Kernels* const> supported_kernels() {
  static const std::vector<const Kernels*> found = find_supported();
  return found;
}

const Kernels& kernels() {
  static const Kernels& selected = select();
  return selected;
}

}  // namespace kv
