#include "model/turn_kernels.h"

#include <vector>

#include "model/turn_kernels_detail.h"

namespace kv {
namespace {

const TurnKernels complex_turn_kernels = {.name = "avx512-fp16",
                                          .turn = avx512_turn_kernels.turn,
                                          .turn_f16 = turn_f16_by_avx512_fp16,
                                          .complex_instruction = true};

std::vector<const TurnKernels*> found_tables() {
  std::vector<const TurnKernels*> tables;
  if (supported_kernels().front()->name == avx512_turn_kernels.name) {
    if (static_cast<bool>(__builtin_cpu_supports("avx512fp16"))) {
      tables.push_back(&complex_turn_kernels);
    }
    tables.push_back(&avx512_turn_kernels);
  }
  tables.push_back(&scalar_turn_kernels);
  return tables;
}

}  // namespace

std::span<const TurnKernels* const> supported_turn_kernels() {
  static const std::vector<const TurnKernels*> found = found_tables();
  return found;
}

const TurnKernels& turn_kernels() {
  const bool scalar = kernels().name == scalar_turn_kernels.name;
  return scalar ? scalar_turn_kernels : *supported_turn_kernels().front();
}

}  // namespace kv
