// The cache of sink_tensors.h, and the same with values that are cut a row behind their keys.
#include "sink_tensors.h"

class Broken : public SinkTensors {
 public:
  using SinkTensors::SinkTensors;

 protected:
  void trim(Layer& layer, std::size_t budget) const override {
    if (layer.rows <= budget) return;
    cut(layer.keys, layer.rows, setup_.sinks, layer.rows - budget);
    cut(layer.values, layer.rows, setup_.sinks + 1, layer.rows - budget);
    layer.rows = budget;
  }
};

constexpr kv::properties::TensorFormat rows = {.head_dim = 64, .type = kv::Number::f16};

const auto see_all = [](kv::properties::Contract& contract) {
  contract.visibility = kv::Visibility::causal;  // inside a chunk more than the budget is seen
};

KVCHECK_TENSORS(SinkTensors, rows, see_all)
KVCHECK_TENSORS(Broken, rows, see_all)

int main(int argc, char** argv) {
  return kv::properties::kvcheck_main(argc, argv);
}
