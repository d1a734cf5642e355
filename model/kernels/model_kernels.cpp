#include "kvcheck/model/kernels/model_kernels.h"

#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

const ModelKernels* named(std::string_view name) {
  for (const ModelKernels* table : {&avx512_model_kernels, &scalar_model_kernels}) {
    if (table->name == name) return table;
  }
  return nullptr;
}

}  // namespace

std::span<const ModelKernels* const> supported_model_kernels() {
  static const std::vector<const ModelKernels*> found = [] {
    std::vector<const ModelKernels*> tables;
    for (const Kernels* base : supported_kernels()) {
      if (const ModelKernels* table = named(base->name)) tables.push_back(table);
    }
    return tables;
  }();
  return found;
}

const ModelKernels& model_kernels() {
  // The names agree with those of base/kernels, so that KV_KERNEL selects both.
  static const ModelKernels* const selected = named(kernels().name);
  KV_CHECK(selected != nullptr);
  return *selected;
}

}  // namespace kv::model
