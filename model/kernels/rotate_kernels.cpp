#include "kvcheck/model/kernels/rotate_kernels.h"

#include <cpuid.h>

#include <vector>

#include "kvcheck/model/kernels/rotate_kernels_detail.h"

namespace kv::model {
namespace {

const RotateKernels complex_turn_kernels = {.name = "avx512-fp16",
                                            .rotate = avx512_turn_kernels.rotate,
                                            .turn_f16 = turn_f16_by_avx512_fp16,
                                            .complex_instruction = true};

// By the CPU's own word: clang before 16 does not know the name. That the system saves the
// registers is what the plain AVX-512 table has made sure of.
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
  if (supported_kernels().front()->name == avx512_turn_kernels.name) {
    if (has_avx512_fp16()) {
      tables.push_back(&complex_turn_kernels);
    }
    tables.push_back(&avx512_turn_kernels);
  }
  tables.push_back(&scalar_turn_kernels);
  return tables;
}

}  // namespace

std::span<const RotateKernels* const> supported_turn_kernels() {
  static const std::vector<const RotateKernels*> found = found_tables();
  return found;
}

const RotateKernels& turn_kernels() {
  const bool scalar = kernels().name == scalar_turn_kernels.name;
  return scalar ? scalar_turn_kernels : *supported_turn_kernels().front();
}

}  // namespace kv::model
