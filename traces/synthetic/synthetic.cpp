#include "kvcheck/traces/synthetic/synthetic.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/traces/synthetic/rows.h"

namespace kv {
namespace {

// The value as a trace of such numbers holds it.
float rounded_to(Number number, double value) {
  const auto rounded = static_cast<float>(value);
  return number == Number::f32 ? rounded : f16_to_f32(f32_to_f16(rounded));
}

// The memory for the numbers of one trace; take() hands it out tensor by tensor, each of which must
// be written whole. To clear gigabytes at once would take seconds without a question to the caller.
class Buffer {
 public:
  Buffer(std::size_t numbers, Number number)
      : number_(number),
        size_(numbers * (number == Number::f32 ? 4 : 2)),
        bytes_(std::make_unique_for_overwrite<std::byte[]>(size_)) {}

  TensorView take(std::vector<std::size_t> shape) {
    TensorView view{number_, std::move(shape), bytes_.get() + used_};
    std::size_t size = view.bytes_per_number();
    for (const std::size_t extent : view.shape) size *= extent;
    used_ += size;
    KV_CHECK(used_ <= size_);
    return view;
  }

  // Rounds `values` into the tensor from its offset-th number on.
  void put(const TensorView& view, std::size_t offset, std::span<const double> values) {
    std::byte* to = place(view, offset);
    const std::size_t width = view.bytes_per_number();
    for (const double value : values) {
      const float rounded = rounded_to(number_, value);
      const std::uint16_t half = f32_to_f16(rounded);
      std::memcpy(to, number_ == Number::f32 ? static_cast<const void*>(&rounded) : &half, width);
      to += width;
    }
  }

  // Writes `count` zeros into the tensor from its offset-th number on.
  void clear(const TensorView& view, std::size_t offset, std::size_t count) {
    std::memset(place(view, offset), 0, count * view.bytes_per_number());
  }

  [[nodiscard]] std::shared_ptr<const void> owner() const { return bytes_; }

 private:
  std::byte* place(const TensorView& view, std::size_t offset) {
    const auto tensor = static_cast<std::size_t>(view.data - bytes_.get());
    return bytes_.get() + tensor + offset * view.bytes_per_number();
  }

  Number number_;
  std::size_t size_;
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t used_ = 0;
};

std::size_t numbers_of(const SyntheticSpec& spec) {
  const std::size_t layer = spec.kind == TraceKind::attention
                                ? spec.heads * spec.tokens * spec.tokens
                                : (spec.heads + 2 * spec.kv_heads) * spec.tokens * spec.head_dim;
  return layer * spec.layers;
}

// Asks now and then whether the work is still to be done.
class Pace {
 public:
  explicit Pace(const std::function<bool()>& may_continue) : may_continue_(may_continue) {}

  // Whether to continue after so many pairs of a query and a key.
  bool after(std::size_t pairs) {
    constexpr std::size_t often = std::size_t{1} << 22;  // a tenth of a second
    pairs_ += pairs;
    if (!may_continue_ || pairs_ < often) return true;
    pairs_ = 0;
    return may_continue_();
  }

 private:
  const std::function<bool()>& may_continue_;
  std::size_t pairs_ = 0;
};

std::optional<Trace::Layer> make_rows(const SyntheticSpec& spec,
                                      std::size_t layer,
                                      Buffer& buffer,
                                      Pace& pace) {
  Trace::Layer out;
  out.attention = buffer.take({spec.heads, spec.tokens, spec.tokens});
  std::vector<double> row(spec.tokens);
  const std::size_t group = spec.heads / spec.kv_heads;
  for (std::size_t kv_head = 0; kv_head < spec.kv_heads; ++kv_head) {
    SyntheticRows rows(spec, layer, kv_head);
    for (std::size_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      for (Position t = 0; t < spec.tokens; ++t) {
        const std::span<double> visible(row.data(), t + 1);
        rows.row(head, t, visible);
        const std::size_t at = (head * spec.tokens + t) * spec.tokens;
        buffer.put(out.attention, at, visible);
        buffer.clear(out.attention, at + t + 1, spec.tokens - t - 1);
        if (!pace.after(t + 1)) return {};
      }
    }
  }
  return out;
}

std::optional<Trace::Layer> make_factors(const SyntheticSpec& spec,
                                         std::size_t layer,
                                         Buffer& buffer,
                                         Pace& pace) {
  Trace::Layer out;
  out.q = buffer.take({spec.heads, spec.tokens, spec.head_dim});
  out.k = buffer.take({spec.kv_heads, spec.tokens, spec.head_dim});
  out.v = buffer.take({spec.kv_heads, spec.tokens, spec.head_dim});
  std::vector<double> vector(spec.head_dim);
  const std::size_t group = spec.heads / spec.kv_heads;
  for (std::size_t kv_head = 0; kv_head < spec.kv_heads; ++kv_head) {
    SyntheticRows rows(spec, layer, kv_head);
    for (Position t = 0; t < spec.tokens; ++t) {
      for (std::size_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        rows.query(head, t, vector);
        buffer.put(out.q, (head * spec.tokens + t) * spec.head_dim, vector);
        if (!pace.after(t + 1)) return {};
      }
      rows.key(t, vector);
      buffer.put(out.k, (kv_head * spec.tokens + t) * spec.head_dim, vector);
      rows.value(t, vector);
      buffer.put(out.v, (kv_head * spec.tokens + t) * spec.head_dim, vector);
    }
  }
  return out;
}

class SyntheticRowMaker final : public RowMaker {
 public:
  SyntheticRowMaker(std::shared_ptr<const SyntheticSpec> spec, std::size_t layer, std::size_t head)
      : spec_(std::move(spec)),
        head_(head),
        rows_(*spec_, layer, head / (spec_->heads / spec_->kv_heads)),
        row_(spec_->tokens) {}

  void make(Position query, std::span<float> row) override {
    const std::span<double> exact = std::span(row_).first(row.size());
    rows_.row(head_, query, exact);
    std::ranges::transform(exact, row.begin(),
                           [&](double value) { return rounded_to(spec_->number, value); });
  }

 private:
  std::shared_ptr<const SyntheticSpec> spec_;
  std::size_t head_;
  SyntheticRows rows_;
  std::vector<double> row_;
};

TraceInfo describe(const SyntheticSpec& spec) {
  TraceInfo info;
  info.name = spec.canonical();
  info.kind = spec.kind;
  info.source = "kvcheck trace generate " + info.name;
  info.tokens = spec.tokens;
  info.query_heads = spec.heads;
  info.kv_heads = spec.kv_heads;
  info.number = spec.number;
  info.checksum = XXH3_64bits(info.name.data(), info.name.size());
  for (std::size_t layer = 0; layer < spec.layers; ++layer) info.layers.push_back(layer);
  if (spec.kind == TraceKind::qkv) {
    info.head_dim = spec.head_dim;
    if (spec.rope != RopeLayout::none) info.rope = {spec.rope, noise_dims, Rope{}.theta};
  }
  return info;
}

}  // namespace

Trace make_synthetic(const SyntheticSpec& spec) {
  return *make_synthetic(spec, {});
}

std::optional<Trace> make_synthetic(const SyntheticSpec& spec,
                                    const std::function<bool()>& may_continue) {
  KV_CHECK(spec.generator != nullptr);
  KV_CHECK(numbers_of(spec) <= max_synthetic_bytes / (spec.number == Number::f32 ? 4 : 2));
  Buffer buffer(numbers_of(spec), spec.number);
  Pace pace(may_continue);
  std::vector<Trace::Layer> layers;
  for (std::size_t layer = 0; layer < spec.layers; ++layer) {
    auto made = spec.kind == TraceKind::attention ? make_rows(spec, layer, buffer, pace)
                                                  : make_factors(spec, layer, buffer, pace);
    if (!made) return {};
    layers.push_back(*std::move(made));
  }
  return Trace(describe(spec), std::move(layers), {}, buffer.owner());
}

Trace synthetic_stream(const SyntheticSpec& spec) {
  if (spec.kind == TraceKind::qkv) return make_synthetic(spec);
  KV_CHECK(spec.generator != nullptr);
  std::vector<Trace::Layer> layers(spec.layers);
  for (Trace::Layer& layer : layers) {
    layer.attention = {spec.number, {spec.heads, spec.tokens, spec.tokens}, nullptr};
  }
  Trace trace(describe(spec), std::move(layers), {}, nullptr);
  trace.make_rows_by(
      [kept = std::make_shared<const SyntheticSpec>(spec)](std::size_t layer, std::size_t head) {
        return std::make_unique<SyntheticRowMaker>(kept, layer, head);
      });
  return trace;
}

Planted planted(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  KV_CHECK(spec.generator != nullptr && layer < spec.layers && kv_head < spec.kv_heads);
  UnitPlan plan = spec.generator->plan(spec, layer, kv_head);
  return {std::move(plan.plants), plan.slope > 0 ? 1 / plan.slope : 0, plan.noise};
}

}  // namespace kv
