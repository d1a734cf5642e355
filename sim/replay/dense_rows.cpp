#include "kvcheck/sim/replay/dense_rows.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

// The matrix [tokens, dim] of one head of a [heads, tokens, dim] tensor.
std::vector<float> widen_head(const TensorView& tensor, std::size_t head) {
  KV_CHECK(tensor.shape.size() == 3 && head < tensor.shape[0]);
  std::vector<float> out(tensor.shape[1] * tensor.shape[2]);
  const std::byte* from = tensor.data + head * out.size() * tensor.bytes_per_number();
  kernels().widen(tensor.number, from, out.size(), out.data());
  return out;
}

// A number for messages, with names for NaN and infinities.
std::string number_text(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return shortest(static_cast<double>(value));
}

// Requests the next row from memory while this one is processed.
void prefetch(const std::byte* bytes, std::size_t size) {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < size; i += line) __builtin_prefetch(bytes + i);
}

}  // namespace

KeyValues::KeyValues(const Trace::Layer& layer, std::size_t kv_head, const RopeTable& rope)
    : dim_(layer.k.shape[2]), values_(widen_head(layer.v, kv_head)) {
  const std::vector<float> raw = widen_head(layer.k, kv_head);
  keys_.resize(raw.size());
  for (std::size_t at = 0; at < raw.size(); at += dim_) {
    rope.rotate(raw.data() + at, dim_, static_cast<Position>(at / dim_), keys_.data() + at);
  }
}

DenseRows::DenseRows(const Trace& trace,
                     std::size_t layer,
                     std::size_t head,
                     std::size_t top_k,
                     std::shared_ptr<const KeyValues> shared,
                     const RopeTable& rope)
    : trace_(trace),
      layer_(layer),
      head_(head),
      shared_(std::move(shared)),
      rope_(rope),
      top_k_(top_k),
      mass_(trace.info().tokens) {
  if (trace.info().kind == TraceKind::attention) return;
  KV_CHECK(shared_ != nullptr);
  const std::size_t dim = shared_->dim();
  logit_scale_ = 1.0F / std::sqrt(static_cast<float>(dim));
  queries_ = widen_head(trace.layer(layer).q, head);
  rotated_.resize(dim);
  logits_.resize(trace.info().tokens);
  output_.resize(dim);
}

Error DenseRows::bad_row(Position query, const std::string& what) const {
  const TraceInfo& info = trace_.info();
  return malformed("'" + info.name + "': layer " + std::to_string(info.layers[layer_]) + ", head " +
                   std::to_string(head_) + ", query " + std::to_string(query) + ": " + what);
}

// Any number above the diagonal other than 0 and -0 is an error. The scan for set bits is fast, and
// numbers are widened only if it finds some.
Result<void> DenseRows::check_above(Position query, const std::byte* row) {
  const TensorView& tensor = trace_.layer(layer_).attention;
  const std::size_t first = query + std::size_t{1};
  const std::size_t count = trace_.info().tokens - first;
  const std::byte* above = row + first * tensor.bytes_per_number();
  if (!kernels().any_bit(above, count * tensor.bytes_per_number())) return {};
  above_.resize(count);
  kernels().widen(tensor.number, above, count, above_.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (above_[i] == 0) continue;
    return bad_row(query, "the weight of key " + std::to_string(first + i) + " is " +
                              number_text(above_[i]) + "; expected 0 above the diagonal");
  }
  return {};
}

Result<void> DenseRows::read_row(Position query) {
  const TensorView& tensor = trace_.layer(layer_).attention;
  const std::size_t tokens = trace_.info().tokens;
  const std::size_t n = query + std::size_t{1};
  const std::size_t row_bytes = tokens * tensor.bytes_per_number();
  const std::byte* row = tensor.data + (head_ * tokens + query) * row_bytes;
  const Kernels& kernel = kernels();
  kernel.widen(tensor.number, row, n, mass_.data());
  if (n < tokens) {
    prefetch(row + row_bytes, row_bytes);
    if (Result<void> empty = check_above(query, row); !empty) return empty;
  }

  const float sum = kernel.sum(mass_.data(), n);
  // Negated, so that a NaN is an error too.
  if (!(std::abs(sum - 1.0F) <= row_tolerance(tensor.number, n))) {
    return bad_row(query,
                   "the weights up to the diagonal sum to " + number_text(sum) + "; expected 1");
  }
  // A sign bit may be that of -0, so the value decides.
  if (kernel.any_sign(mass_.data(), n)) {
    const std::size_t least = kernel.argmin(mass_.data(), n);
    if (mass_[least] < 0) {
      return bad_row(query, "the weight of key " + std::to_string(least) + " is " +
                                shortest(static_cast<double>(mass_[least])) +
                                "; expected none below 0");
    }
  }
  kernel.scale(mass_.data(), 1.0F / sum, n);
  return {};
}

Result<void> DenseRows::compute_row(Position query) {
  const std::size_t dim = shared_->dim();
  const std::size_t n = query + std::size_t{1};
  const Kernels& kernel = kernels();
  rotated_query(query, query, rotated_.data());
  kernel.dot_rows(rotated_.data(), shared_->keys(), n, dim, logit_scale_, logits_.data());
  // One sum tests all numbers: a NaN or an infinity cannot vanish in it.
  if (!std::isfinite(kernel.sum(logits_.data(), n))) {
    return bad_row(query, "a product of q and k is not finite");
  }
  std::copy_n(logits_.data(), n, mass_.data());
  log_sum_ = kernel.softmax(mass_.data(), n);
  kernel.weigh_rows(mass_.data(), shared_->values(), n, dim, output_.data());
  if (!std::isfinite(kernel.sum(output_.data(), dim))) {
    return bad_row(query, "the attention output is not finite: v has a NaN or an infinity");
  }
  return {};
}

Result<DenseRow> DenseRows::load(Position query) {
  const std::size_t n = query + std::size_t{1};
  DenseRow row;
  row.query = query;
  row.mass = {mass_.data(), n};
  const Result<void> loaded = shared_ == nullptr ? read_row(query) : compute_row(query);
  if (!loaded) return loaded.error();
  if (shared_ != nullptr) {
    row.logits = {logits_.data(), n};
    row.log_sum = log_sum_;
    row.output = output_;
  }
  row.top = top_k_.find(row.mass);
  return row;
}

void DenseRows::raw_key(Position position, float* out) const {
  widen_row(trace_.layer(layer_).k, position, out);
}

void DenseRows::raw_value(Position position, float* out) const {
  widen_row(trace_.layer(layer_).v, position, out);
}

// Widens the row of this head's kv-head.
void DenseRows::widen_row(const TensorView& tensor, Position position, float* out) const {
  const TraceInfo& info = trace_.info();
  const std::size_t dim = tensor.shape[2];
  const std::size_t at = (kv_head_of(info, head_) * info.tokens + position) * dim;
  kernels().widen(tensor.number, tensor.data + at * tensor.bytes_per_number(), dim, out);
}

void DenseRows::rotated_query(Position query, Position position, float* out) const {
  const std::size_t dim = shared_->dim();
  rope_.rotate(queries_.data() + query * dim, dim, position, out);
}

}  // namespace kv
