#include "kvcheck/model/kernels/rotate_kernels.h"

#include <cpuid.h>

#include <vector>

#include "kvcheck/model/kernels/rotate_kernels_detail.h"

namespace kv::model {
namespace {

const RotateKernels complex_rotate_kernels = {.name = "avx512-fp16",
                                              .rotate = avx512_rotate_kernels.rotate,
                                              .rotate_f16 = rotate_f16_by_avx512_fp16,
                                              .complex_instruction = true};

// Asked of the CPU itself: clang before 16 does not know the feature's name. That the system saves
// the registers was checked when the plain AVX-512 table was selected.
bool has_avx512_fp16() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned fp16 = 1U << 23;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & fp16) != 0;
}

std::vector<const RotateKernels*> found_tables() {
  std::vector<const RotateKernels*> tables;
  if (supported_kernels().front()->name == avx512_rotate_kernels.name) {
    if (has_avx512_fp16()) {
      tables.push_back(&complex_rotate_kernels);
    }
    tables.push_back(&avx512_rotate_kernels);
  }
  tables.push_back(&scalar_rotate_kernels);
  return tables;
}

}  // namespace

std::span<const RotateKernels* const> supported_rotate_kernels() {
  static const std::vector<const RotateKernels*> found = found_tables();
  return found;
}

const RotateKernels& rotate_kernels() {
  const bool scalar = kernels().name == scalar_rotate_kernels.name;
  return scalar ? scalar_rotate_kernels : *supported_rotate_kernels().front();
}

}  // namespace kv::model
