#include "sim/dense_rows.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/kernels.h"
#include "base/words.h"
#include "traces/verify.h"

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

// Asks for the next row while this one is worked on.
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

Result<void> DenseRows::read_row(Position query) {
  const TensorView& tensor = trace_.layer(layer_).attention;
  const std::size_t tokens = trace_.info().tokens;
  const std::size_t n = query + std::size_t{1};
  const std::size_t row_bytes = tokens * tensor.bytes_per_number();
  const std::byte* row = tensor.data + (head_ * tokens + query) * row_bytes;
  const Kernels& kernel = kernels();
  kernel.widen(tensor.number, row, n, mass_.data());
  if (n < tokens) prefetch(row + row_bytes, (n + 1) * tensor.bytes_per_number());

  const float sum = kernel.sum(mass_.data(), n);
  if (!(std::abs(sum - 1.0F) <= row_tolerance(tensor.number, n))) {
    return bad_row(query, "the weights up to the diagonal sum to " +
                              shortest(static_cast<double>(sum)) + "; expected 1");
  }
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
  if (!std::isfinite(kernel.sum(logits_.data(), n))) {
    return bad_row(query, "a product of q and k is not finite");
  }
  std::copy_n(logits_.data(), n, mass_.data());
  kernel.softmax(mass_.data(), n);
  kernel.weigh_rows(mass_.data(), shared_->values(), n, dim, output_.data());
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
    row.output = output_;
  }
  row.top = top_k_.find(row.mass);
  return row;
}

void DenseRows::rotated_query(Position query, Position position, float* out) const {
  const std::size_t dim = shared_->dim();
  rope_.rotate(queries_.data() + query * dim, dim, position, out);
}

}  // namespace kv
