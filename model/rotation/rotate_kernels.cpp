#include "kvcheck/model/rotation/rotate_kernels.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <vector>

#include "kvcheck/model/rotation/rotate_kernels_detail.h"

namespace kv::model {
namespace {

const KernelTables<RotateKernels>& tables() {
  static const KernelTables<RotateKernels> made(KV_TABLE_OF_X86(avx512_rotate_kernels),
                                                put_highway_rotate, scalar_rotate_kernels);
  return made;
}

#ifdef __x86_64__
// Asked of the CPU itself: clang before 16 does not know the feature's name. That the system saves
// the registers is part of supports_avx512().
bool has_complex_instruction() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned fp16 = 1U << 23;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & fp16) != 0 && supports_avx512();
}
#endif

// The table for AVX-512 with the complex instruction; null where it does not run.
const RotateKernels* complex_table() {
#ifdef __x86_64__
  static const RotateKernels table = {.name = "avx512-fp16",
                                      .rotate = avx512_rotate_kernels.rotate,
                                      .rotate_f16 = rotate_f16_by_avx512_fp16,
                                      .complex_instruction = true};
  // Asked once: in a virtual machine the question takes microseconds, and every rotation of a key
  // comes here.
  static const bool runs = has_complex_instruction();
  return runs ? &table : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace

std::span<const RotateKernels* const> supported_rotate_kernels() {
  static const std::vector<const RotateKernels*> found = [] {
    std::vector<const RotateKernels*> all(tables().all().begin(), tables().all().end());
    if (complex_table() != nullptr) all.insert(all.begin(), complex_table());
    return all;
  }();
  return found;
}

const RotateKernels& rotate_kernels() {
  const bool best = kernels().name == "avx512" && complex_table() != nullptr;
  return best ? *complex_table() : tables().named(kernels().name);
}

}  // namespace kv::model
