#include "kvcheck/sim/replay/dense_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/block_kernels.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

// The matrix [tokens, dim] of one head of a [heads, tokens, dim] tensor.
AlignedFloats widen_head(const TensorView& tensor, std::size_t head) {
  KV_CHECK(tensor.shape.size() == 3 && head < tensor.shape[0]);
  AlignedFloats out(tensor.shape[1] * tensor.shape[2]);
  const std::byte* from = tensor.data + head * out.size() * tensor.bytes_per_number();
  kernels().widen(tensor.number, from, out.size(), out.data());
  return out;
}

// A number for messages, with names for NaN and infinities.
std::string number_text(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return shown(value);
}

// A NaN or an infinity cannot vanish in the sum of all, which may itself be too large.
bool all_finite(std::span<const float> numbers) {
  return std::isfinite(kernels().sum(numbers.data(), numbers.size())) ||
         std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

}  // namespace

KeyValues::KeyValues(const Trace& trace,
                     std::size_t layer,
                     std::size_t kv_head,
                     const RopeTable& rope)
    : dim_(trace.info().head_dim), values_(widen_head(trace.layer(layer).v, kv_head)) {
  AlignedFloats raw = widen_head(trace.layer(layer).k, kv_head);
  if (holds_rotated(trace.info(), rules_of(trace.info(), layer))) {
    const HeadLogits rules(trace.info(), layer, 0);
    for (std::size_t at = 0; at < raw.size(); at += dim_) {
      rules.unscale_rotated(std::span(raw).subspan(at, dim_));
    }
    keys_ = std::move(raw);
    return;
  }
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
      maker_(trace.row_maker(layer, head)),
      shared_(std::move(shared)),
      rope_(rope),
      top_k_(top_k),
      mass_(trace.info().tokens) {
  if (trace.info().kind == TraceKind::attention) return;
  KV_CHECK(shared_ != nullptr);
  const std::size_t dim = shared_->dim();
  rotated_in_trace_ = holds_rotated(trace.info(), rules_of(trace.info(), layer));
  head_logits_.emplace(trace.info(), layer, head);
  open_queries();
  mass_.resize(most_rows * tokens());
  logits_.resize(most_rows * tokens());
  rotated_.resize(most_rows * dim);
  output_.resize(most_rows * dim);
  log_sums_.resize(most_rows);
  finite_.resize(most_rows);
}

void DenseRows::open_queries() {
  const std::size_t dim = shared_->dim();
  queries_ = widen_head(trace_.layer(layer_).q, head_);
  for (std::size_t at = 0; at < queries_.size(); at += dim) {
    const std::span<float> query = std::span(queries_).subspan(at, dim);
    head_logits_->scale_query(query);
    if (rotated_in_trace_) head_logits_->unscale_rotated(query);
  }
  if (!rotated_in_trace_) return;
  stored_ = queries_;
  for (std::size_t at = 0; at < queries_.size(); at += dim) {
    rope_.rotate_back(stored_.data() + at, dim, recorded_query(trace_.info(), at / dim),
                      queries_.data() + at);
  }
}

Error DenseRows::bad_row(Position query, const std::string& what) const {
  const TraceInfo& info = trace_.info();
  return malformed("'" + info.name + "': layer " + std::to_string(info.layers[layer_]) + ", head " +
                   std::to_string(head_) + ", query " + std::to_string(query) + ": " + what);
}

// Any number above the diagonal other than 0 and -0 is an error. The scan for set bits is fast, and
// numbers are widened only if it finds some.
Result<void> DenseRows::check_above(Position query, const std::byte* row, std::size_t ahead) {
  const TensorView& tensor = trace_.layer(layer_).attention;
  const std::size_t first = query + std::size_t{1};
  const std::size_t count = trace_.info().tokens - first;
  const std::byte* above = row + first * tensor.bytes_per_number();
  if (!kernels().any_bit(above, count * tensor.bytes_per_number(), ahead)) return {};
  above_.resize(count);
  kernels().widen(tensor.number, above, count, above_.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (above_[i] == 0) continue;
    return bad_row(query, "the weight of key " + std::to_string(first + i) + " is " +
                              number_text(above_[i]) + "; expected 0 above the diagonal");
  }
  return {};
}

// The row as the trace holds it: its numbers up to the diagonal in mass_.
Result<RowSum> DenseRows::widen_stored(Position query, std::size_t index) {
  const TensorView& tensor = trace_.layer(layer_).attention;
  const std::size_t tokens = trace_.info().tokens;
  const std::size_t n = query + std::size_t{1};
  const std::size_t row_bytes = tokens * tensor.bytes_per_number();
  const std::byte* row = tensor.data + (head_ * tensor.shape[1] + index) * row_bytes;
  // The row after the next is prefetched meanwhile.
  const std::size_t ahead = index + 2 < tensor.shape[1] ? 2 * row_bytes : 0;
  const RowSum read = kernels().widen_and_sum(tensor.number, row, n, ahead, mass_.data());
  if (n == tokens) return read;
  if (Result<void> zeros = check_above(query, row, ahead); !zeros) return zeros.error();
  return read;
}

Result<void> DenseRows::read_row(Position query, std::size_t index) {
  const std::size_t n = query + std::size_t{1};
  const Kernels& kernel = kernels();
  RowSum read;
  if (maker_) {
    maker_->make(query, std::span(mass_).first(n));
    read = {kernel.sum(mass_.data(), n), kernel.any_sign(mass_.data(), n)};
  } else {
    const Result<RowSum> stored = widen_stored(query, index);
    if (!stored) return stored.error();
    read = *stored;
  }
  const float sum = read.sum;
  if (Result<void> right = check_sum(query, sum); !right) return right;
  // A sign bit may be that of -0, so the value decides.
  if (read.any_sign) {
    const std::size_t least = kernel.argmin(mass_.data(), n);
    if (mass_[least] < 0) {
      return bad_row(query, "the weight of key " + std::to_string(least) + " is " +
                                number_text(mass_[least]) + "; expected none below 0");
    }
  }
  if (trace_.info().learned_sinks) keys_ = std::min(static_cast<double>(sum), 1.0);
  if (sum > 0) {
    kernel.scale(mass_.data(), 1.0F / sum, n);
  } else {
    // All went to the sink, so nothing can be lost: the query keeps its own key.
    mass_[query] = 1;
  }
  return {};
}

// Negated, so that a NaN is an error too.
Result<void> DenseRows::check_sum(Position query, float sum) const {
  const double tolerance = row_tolerance(trace_.info().number, query + std::size_t{1});
  const bool sinks = trace_.info().learned_sinks;
  const float off = sinks && sum >= 0 ? std::max(sum - 1.0F, 0.0F) : std::abs(sum - 1.0F);
  if (off <= tolerance) return {};
  const std::string found = "the weights up to the diagonal sum to " + number_text(sum);
  if (sinks) return bad_row(query, found + "; expected 0 to 1");
  return bad_row(query, found + "; expected 1" +
                            (sum > 0 && sum < 1 ? ", unless the model has learned sinks, which "
                                                  "--learned-sinks says of a dump"
                                                : ""));
}

// The rows from `row` on. Keys that the window hides from the block's first query are hidden from
// all; those that it hides only from later ones get weight 0, which adds nothing to an output.
void DenseRows::compute_block(std::size_t row) {
  const std::size_t dim = shared_->dim();
  block_ = row;
  block_rows_ = std::min(most_rows, queries_.size() / dim - row);
  for (std::size_t at = 0; at < block_rows_; ++at) {
    rotated_query(row + at, recorded_query(trace_.info(), row + at), rotated_.data() + at * dim);
  }
  const std::size_t first = head_logits_->hidden(keys_of(0));
  const std::size_t n = keys_of(block_rows_ - 1) - first;
  block_kernels().dot_rows(rotated_.data(), block_rows_, {shared_->keys() + first * dim, n, dim},
                           head_logits_->scale(), {logits_.data() + first, tokens()});
  std::array<std::size_t, most_rows> limits{};
  for (std::size_t at = 0; at < block_rows_; ++at) {
    finish_logits(at);
    limits[at] = keys_of(at) - first;
  }
  block_kernels().weigh_rows({mass_.data() + first, tokens()}, limits.data(), block_rows_,
                             {shared_->values() + first * dim, n, dim}, output_.data());
  for (std::size_t at = 0; at < block_rows_ && head_logits_->has_sink(); ++at) {
    const auto share = static_cast<float>(head_logits_->share_of_keys(log_sums_[at]));
    kernels().scale(output_.data() + at * dim, share, dim);
  }
}

// Makes logits and weights of the products of the block's row `at`. The keys that the window hides
// get hidden_logit.
void DenseRows::finish_logits(std::size_t at) {
  const std::size_t n = keys_of(at);
  const std::size_t first = head_logits_->hidden(n);
  float* const logits = logits_.data() + at * tokens();
  float* const mass = mass_.data() + at * tokens();
  finite_[at] = all_finite({logits + first, n - first});
  if (!finite_[at]) return;
  head_logits_->finish({logits + first, n - first}, n - first - 1);
  std::fill_n(logits, first, hidden_logit);
  std::fill_n(mass, first, 0.0F);
  std::copy_n(logits + first, n - first, mass + first);
  log_sums_[at] = kernels().softmax(mass + first, n - first);
}

Result<void> DenseRows::compute_row(Position query, std::size_t row) {
  if (row < block_ || row >= block_ + block_rows_) compute_block(row);
  loaded_ = row - block_;
  if (!finite_[loaded_]) return bad_row(query, "a product of q and k is not finite");
  const std::size_t dim = shared_->dim();
  float* const output = output_.data() + loaded_ * dim;
  if (!all_finite({output, dim})) {
    return bad_row(query, "the attention output is not finite: v has a NaN or an infinity");
  }
  return {};
}

Result<DenseRow> DenseRows::load(Position query, std::size_t index) {
  const std::size_t n = query + std::size_t{1};
  keys_ = 1;
  const Result<void> loaded =
      shared_ == nullptr ? read_row(query, index) : compute_row(query, index);
  if (!loaded) return loaded.error();
  DenseRow row;
  row.query = query;
  row.row = index;
  row.mass = {last_mass(), n};
  if (shared_ != nullptr) {
    row.logits = {logits_.data() + loaded_ * tokens(), n};
    row.log_sum = log_sums_[loaded_];
    row.output = {output_.data() + loaded_ * shared_->dim(), shared_->dim()};
    if (head_logits_->has_sink()) {
      keys_ = head_logits_->share_of_keys(row.log_sum);
      row.log_sum = head_logits_->with_sink(row.log_sum);
    }
  }
  row.keys = keys_;
  row.top = top_k_.find(row.mass);
  return row;
}

void DenseRows::raw_key(Position position, float* out) const {
  if (!rotated_in_trace_) return widen_row(trace_.layer(layer_).k, position, out);
  const std::size_t dim = shared_->dim();
  rope_.rotate_back(shared_->keys() + position * dim, dim, position, out);
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

void DenseRows::rotated_query(std::size_t row, Position position, float* out) const {
  const std::size_t dim = shared_->dim();
  if (rotated_in_trace_ && position == recorded_query(trace_.info(), row)) {
    std::copy_n(stored_.data() + row * dim, dim, out);
    return;
  }
  rope_.rotate(queries_.data() + row * dim, dim, position, out);
}

}  // namespace kv
