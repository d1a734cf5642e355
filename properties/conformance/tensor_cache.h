// The way in for a cache in C++ that holds tensors and never sees a token's name:
//
//   class MyCache : public kv::properties::TensorCache { ... };
//   KVCHECK_TENSORS(MyCache, {.head_dim = 64, .type = kv::Number::f16})
//   int main(int argc, char** argv) { return kv::properties::kvcheck_main(argc, argv); }
//
// Each row that the cache is given carries a tag, which shows in whatever the cache returns and
// stores to which token the row belongs, in which layer, head and sequence it should lie, and for
// which position its key is rotated. Rows need no padding, and are of the cache's own numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/properties/cases/tensor_format.h"
#include "kvcheck/properties/conformance/conformance.h"

namespace kv::properties {

// A view of numbers [sequences][heads][rows][size]: those of a row are adjacent, and the strides
// between sequences, heads and rows are counted in numbers.
struct Tensor {
  const void* data = nullptr;
  std::size_t rows = 0;
  std::ptrdiff_t sequence_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t row_stride = 0;
};

struct KeysAndValues {
  Tensor keys;
  Tensor values;
};

// What attention is given. Views need only remain valid until the next call on the cache.
struct Attended : KeysAndValues {
  // [queries][rows], or [sequences][kv_heads][queries][rows]: not 0 where the query may attend to
  // the row. Empty: query i of n sees all rows but the last n - 1 - i.
  std::vector<std::uint8_t> mask{};

  // [sequences][query heads][queries][rows], the weights that attention gave; empty: not reported.
  std::vector<float> weights{};
};

// All layers, heads and sequences of one cache. What it throws refuses the sizes in a constructor,
// and is a finding in a call.
class TensorCache {
 public:
  TensorCache() = default;
  TensorCache(const TensorCache&) = delete;
  TensorCache& operator=(const TensorCache&) = delete;
  virtual ~TensorCache() = default;

  // Takes the rows of a chunk into one layer. Called for every layer, the first one first. The
  // views are valid during the call.
  virtual Attended update(std::size_t layer, const KeysAndValues& rows) = 0;

  // What the layer stores now, in slot order. Rows of zeros are memory that was never written.
  virtual KeysAndValues stored(std::size_t layer) = 0;

  // The attention weights over the rows that update returned, as in Attended::weights. Called after
  // each update if the cache declares to want attention.
  virtual void observe(std::size_t /*layer*/, std::span<const float> /*weights*/) {}

  // The rotary positions of the keys of the next `count` tokens, asked before update, and of their
  // queries, asked after it. Empty: those of the stream, the first of which is `first`; and as the
  // keys.
  virtual std::vector<double> positions(std::size_t /*layer*/,
                                        std::size_t /*first*/,
                                        std::size_t /*count*/) {
    return {};
  }

  virtual std::vector<double> query_positions(std::size_t /*layer*/, std::size_t /*count*/) {
    return {};
  }

  // What the cache says its length is; nothing: not reported.
  virtual std::optional<std::size_t> length(std::size_t /*layer*/) { return std::nullopt; }

  // Forgets everything. False: not offered, and nothing has changed; here and below.
  virtual bool reset() { return false; }

  // Takes back all but the first `length` tokens. Hostile lengths are to be refused.
  virtual bool truncate(std::int64_t /*length*/) { return false; }

  // Sequence i becomes a copy of what sequence from[i] was. Hostile orders are to be refused.
  virtual bool reorder(std::span<const std::uint32_t> /*from*/) { return false; }

  // An independent copy. Null: not offered.
  virtual std::unique_ptr<TensorCache> fork() { return nullptr; }
};

using MakeTensors = std::function<std::unique_ptr<TensorCache>(const Setup&, const TensorFormat&)>;

// A family of such caches. `declare` is given a contract of the strictest reading with the setup's
// sizes and the precision of the format; with raw keys, positions are not reported unless it says
// so. Requires wrong_format(format) to be empty.
std::unique_ptr<Family> make_tensor_family(std::string name,
                                           const TensorFormat& format,
                                           MakeTensors make,
                                           Declare declare = {});

template <typename Cache>
std::unique_ptr<Family> tensor_family(std::string name,
                                      const TensorFormat& format,
                                      Declare declare = {}) {
  return make_tensor_family(
      std::move(name), format,
      [](const Setup& setup, const TensorFormat& rows) -> std::unique_ptr<TensorCache> {
        return std::make_unique<Cache>(setup, rows);
      },
      std::move(declare));
}

// Registers a TensorCache with the format of its rows. What follows in declares:
// KVCHECK_TENSORS(MyCache, kv::properties::TensorFormat{.head_dim = 128}, [](auto& c) { ... })
#define KVCHECK_TENSORS(Cache, ...)                               \
  [[maybe_unused]] static const bool kvcheck_registered_##Cache = \
      ::kv::properties::register_subject(                         \
          #Cache, [] { return ::kv::properties::tensor_family<Cache>(#Cache, __VA_ARGS__); });

}  // namespace kv::properties
