// ByLayer: a policy that decides otherwise in other layers.
//
// Policies know their unit's tokens and nothing of where it is. One that is a ByLayer too is told
// its layer before it is asked anything. Units of a whole model are in one layer of one.
#pragma once

#include <cstddef>

namespace kv {

// One of a model's layers, the first nearest the embedding.
struct LayerOf {
  std::size_t index = 0;  // < layers
  std::size_t layers = 1;

  bool operator==(const LayerOf&) const = default;
};

class ByLayer {
 public:
  virtual ~ByLayer() = default;

  void stand_in(const LayerOf& layer) { layer_ = layer; }

 protected:
  ByLayer() = default;
  ByLayer(const ByLayer&) = default;
  ByLayer& operator=(const ByLayer&) = default;

  [[nodiscard]] const LayerOf& layer() const { return layer_; }

 private:
  LayerOf layer_;
};

}  // namespace kv
