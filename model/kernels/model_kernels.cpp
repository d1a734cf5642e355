#include "kvcheck/model/kernels/model_kernels.h"

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/threads/of_this_thread.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

const KernelTables<ModelKernels>& tables() {
  static const KernelTables<ModelKernels> made(KV_TABLE_OF_X86(avx512_model_kernels),
                                               put_highway_model, scalar_model_kernels);
  return made;
}

struct Scratch {
  AlignedFloats floats;
};

}  // namespace

float* scratch_floats(std::size_t n) {
  AlignedFloats& floats = of_this_thread<Scratch>().floats;
  if (floats.size() < n) floats.resize(n);
  return floats.data();
}

std::span<const ModelKernels* const> supported_model_kernels() {
  return tables().all();
}

const ModelKernels& model_kernels() {
  // The names agree with those of base/kernels, so that KV_KERNEL selects both.
  static const ModelKernels& selected = tables().named(kernels().name);
  return selected;
}

}  // namespace kv::model
