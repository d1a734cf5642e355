#include "kvcheck/base/kernels/kernels.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdlib>
#include <vector>

#include "kvcheck/base/kernels/kernels_detail.h"

namespace kv {
namespace {

#ifdef __x86_64__
// clang 14 does not know the feature's name.
bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & static_cast<unsigned>(bit_F16C)) != 0;
}

// All that Highway compiles for AVX2, or for SSE4. That the system saves the registers of AVX is
// part of "avx2".
bool has_avx2() {
  return static_cast<bool>(__builtin_cpu_supports("avx2")) &&
         static_cast<bool>(__builtin_cpu_supports("fma")) &&
         static_cast<bool>(__builtin_cpu_supports("bmi")) &&
         static_cast<bool>(__builtin_cpu_supports("bmi2")) && has_f16c();
}

bool has_sse4() {
  return static_cast<bool>(__builtin_cpu_supports("ssse3")) &&
         static_cast<bool>(__builtin_cpu_supports("sse4.2"));
}
#endif

const KernelTables<Kernels>& tables() {
  static const KernelTables<Kernels> made(KV_TABLE_OF_X86(avx512_kernels), put_highway_kernels,
                                          scalar_kernels);
  return made;
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

std::vector<Target> supported_targets() {
  std::vector<Target> found;
#ifdef __x86_64__
  if (has_avx2()) found.push_back(Target::avx2);
  if (has_sse4()) found.push_back(Target::sse4);
#else
  found.push_back(Target::neon);
#endif
  return found;
}

std::string_view target_name(Target target) {
  switch (target) {
    case Target::avx2:
      return "avx2";
    case Target::sse4:
      return "sse4";
    case Target::neon:
      return "neon";
  }
  return "";
}

// A machine with all of these has popcnt too.
bool supports_avx512() {
#ifdef __x86_64__
  return static_cast<bool>(__builtin_cpu_supports("avx512f")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512bw")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512vl")) &&
         static_cast<bool>(__builtin_cpu_supports("avx512dq"));
#else
  return false;
#endif
}

std::span<const Kernels* const> supported_kernels() {
  return tables().all();
}

const Kernels& kernels() {
  static const Kernels& selected = select();
  return selected;
}

}  // namespace kv
