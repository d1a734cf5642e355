// A cache of tensors in half precision: one buffer for each layer, with the sinks first and the
// newest tokens behind them. Rows have 64 numbers, and nothing in it knows a token's name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kvcheck/properties/conformance/tensor_cache.h"

class SinkTensors : public kv::properties::TensorCache {
 public:
  using Setup = kv::properties::Setup;
  using Tensor = kv::properties::Tensor;
  using KeysAndValues = kv::properties::KeysAndValues;

  SinkTensors(const Setup& setup, const kv::properties::TensorFormat& format)
      : setup_(setup), dim_(format.head_dim), layers_(setup.layers) {
    if (setup.budget < setup.sinks + std::max(setup.recent, 1U)) {
      throw std::invalid_argument("the budget leaves no room for a window");
    }
  }

  kv::properties::Attended update(std::size_t layer, const KeysAndValues& rows) override {
    Layer& own = layers_[layer];
    trim(own, setup_.budget);
    attended_ = own;
    append(rows, own);
    append(rows, attended_);
    kv::properties::Attended out{view(attended_), {}, {}};
    trim(own, setup_.budget);
    return out;
  }

  KeysAndValues stored(std::size_t layer) override { return view(layers_[layer]); }

  std::optional<std::size_t> length(std::size_t layer) override { return layers_[layer].rows; }

  bool reset() override {
    std::ranges::fill(layers_, Layer());
    return true;
  }

  std::unique_ptr<TensorCache> fork() override {
    auto copy =
        std::make_unique<SinkTensors>(setup_, kv::properties::TensorFormat{.head_dim = dim_});
    copy->layers_ = layers_;
    return copy;
  }

 protected:
  using Numbers = std::vector<std::uint16_t>;  // of one head: [rows][dim]

  struct Layer {
    std::size_t rows = 0;
    Numbers keys, values;  // [sequences and heads][rows][dim]
  };

  [[nodiscard]] std::size_t units() const { return setup_.sequences * setup_.kv_heads; }

  // Numbers of `tensor`, for a sequence and head, added behind those of the layer.
  virtual void append(const KeysAndValues& rows, Layer& layer) const {
    layer.keys = joined(layer.keys, layer.rows, rows.keys);
    layer.values = joined(layer.values, layer.rows, rows.values);
    layer.rows += rows.keys.rows;
  }

  // Keeps the sinks and the newest.
  virtual void trim(Layer& layer, std::size_t budget) const {
    if (layer.rows <= budget) return;
    cut(layer.keys, layer.rows, setup_.sinks, layer.rows - budget);
    cut(layer.values, layer.rows, setup_.sinks, layer.rows - budget);
    layer.rows = budget;
  }

  // Takes `count` rows from `first` on out of numbers [units][rows][dim].
  void cut(Numbers& numbers, std::size_t rows, std::size_t first, std::size_t count) const {
    Numbers kept;
    for (std::size_t unit = 0; unit < units(); ++unit) {
      const auto at = [&](std::size_t row) {
        return numbers.begin() + static_cast<std::ptrdiff_t>((unit * rows + row) * dim_);
      };
      kept.insert(kept.end(), at(0), at(first));
      kept.insert(kept.end(), at(first + count), at(rows));
    }
    numbers = std::move(kept);
  }

  [[nodiscard]] Numbers joined(const Numbers& old, std::size_t rows, const Tensor& more) const {
    Numbers all;
    for (std::size_t unit = 0; unit < units(); ++unit) {
      const auto begin = old.begin() + static_cast<std::ptrdiff_t>(unit * rows * dim_);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(rows * dim_));
      const auto* const head =
          static_cast<const std::uint16_t*>(more.data) +
          static_cast<std::ptrdiff_t>(unit / setup_.kv_heads) * more.sequence_stride +
          static_cast<std::ptrdiff_t>(unit % setup_.kv_heads) * more.head_stride;
      for (std::size_t row = 0; row < more.rows; ++row) {
        const auto* const from = head + static_cast<std::ptrdiff_t>(row) * more.row_stride;
        all.insert(all.end(), from, from + dim_);
      }
    }
    return all;
  }

  [[nodiscard]] virtual KeysAndValues view(const Layer& layer) const {
    const auto row = static_cast<std::ptrdiff_t>(dim_);
    const auto head = static_cast<std::ptrdiff_t>(layer.rows) * row;
    const auto sequence = head * static_cast<std::ptrdiff_t>(setup_.kv_heads);
    return {{layer.keys.data(), layer.rows, sequence, head, row},
            {layer.values.data(), layer.rows, sequence, head, row}};
  }

  Setup setup_;
  std::size_t dim_;
  std::vector<Layer> layers_;
  Layer attended_;  // what the last update returned
};
