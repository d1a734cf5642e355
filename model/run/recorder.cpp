#include "kvcheck/model/run/recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/run/number_sum.h"

namespace kv::model {
namespace {

std::optional<std::size_t> index_of(const std::vector<std::size_t>& all, std::size_t requested) {
  const auto at = std::ranges::lower_bound(all, requested);
  if (at == all.end() || *at != requested) return {};
  return static_cast<std::size_t>(at - all.begin());
}

}  // namespace

Recorder::Recorder(const ModelConfig& config,
                   std::vector<std::size_t> kv_heads,
                   TraceInfo info,
                   Spool& spool,
                   std::uint64_t base)
    : config_(config),
      kv_heads_(std::move(kv_heads)),
      info_(std::move(info)),
      spool_(spool),
      base_(base) {}

void Recorder::on_vectors(Position first, const LayerVectors& vectors) {
  const std::optional<std::size_t> layer = index_of(info_.layers, vectors.layer);
  if (info_.kind != TraceKind::qkv || !layer) return;
  const Chunk chunk{first, vectors.tokens};
  const std::size_t recorded = recorded_queries(info_);
  const std::uint64_t of_queries = std::uint64_t{info_.query_heads} * recorded;
  const std::uint64_t of_keys = std::uint64_t{info_.kv_heads} * info_.tokens;
  const std::uint64_t begin = *layer * (of_queries + 2 * of_keys);
  const std::size_t shared = config_.heads / config_.kv_heads;
  const std::string at_layer = "layer " + std::to_string(vectors.layer);
  for (std::size_t i = 0; i < kv_heads_.size(); ++i) {
    of_ = "a query of " + at_layer;
    for (std::size_t j = 0; j < shared; ++j) {
      const std::uint64_t at = begin + std::uint64_t{i * shared + j} * recorded;
      put_queries({vectors.q, config_.heads, kv_heads_[i] * shared + j}, chunk, at);
    }
    const std::uint64_t keys = begin + of_queries + std::uint64_t{i} * info_.tokens;
    of_ = "a key of " + at_layer;
    put_head({vectors.k, config_.kv_heads, kv_heads_[i]}, vectors.tokens, keys + first);
    of_ = "a value of " + at_layer;
    put_head({vectors.v, config_.kv_heads, kv_heads_[i]}, vectors.tokens, keys + of_keys + first);
  }
}

bool Recorder::wants_rows(std::size_t layer) const {
  return info_.kind == TraceKind::attention && index_of(info_.layers, layer).has_value();
}

void Recorder::on_row(std::size_t layer_number,
                      std::size_t head,
                      Position query,
                      const Visible& visible,
                      std::span<const float> mass) {
  const std::optional<std::size_t> layer = index_of(info_.layers, layer_number);
  if (!layer) return;
  const std::size_t shared = config_.heads / config_.kv_heads;
  const std::optional<std::size_t> kv_head = index_of(kv_heads_, head / shared);
  const std::optional<std::size_t> row = row_of(query);
  if (!kv_head || !row) return;
  const std::size_t place = *layer * info_.query_heads + *kv_head * shared + head % shared;
  const std::uint64_t at = std::uint64_t{place} * recorded_queries(info_) + *row;
  keep(spool_.put(base_ + at * info_.tokens, by_position(query, visible, mass)));
}

Result<void> Recorder::copy_to(TraceWriter& writer) const {
  std::vector<float> block(std::size_t{1} << 16);
  const std::uint64_t total = trace_numbers(info_);
  std::uint64_t sum = 0;
  Result<void> written;  // of the numbers; what the disk cannot do ends the copy
  for (std::uint64_t at = 0; at < total; at += block.size()) {
    const std::span<float> some =
        std::span(block).first(std::min<std::uint64_t>(block.size(), total - at));
    if (auto read = spool_.get(base_ + at, some); !read) return read;
    sum += sum_of_numbers(at, some);
    if (written) written = writer.write(some);
    if (!written && written.error().kind == Error::Kind::io) return written;
  }
  // Damage first: it may be why a number cannot be written.
  return sum == spool_.sum() ? written : spool_.damaged();
}

// A row over what was seen as one over all tokens up to the query.
std::span<const float> Recorder::by_position(Position query,
                                             const Visible& visible,
                                             std::span<const float> mass) {
  scratch_.assign(std::size_t{query} + 1, 0);
  auto next = mass.begin();
  const auto put = [&](Position position) { scratch_[position] = *next++; };
  for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) put(p);
  std::ranges::for_each(visible.middle, put);
  for (Position p = visible.recent.first; p < visible.recent.last; ++p) put(p);
  return scratch_;
}

void Recorder::put(std::uint64_t at) {
  constexpr float rounds_to_infinity = 65520;
  const auto too_large = [](float one) {
    return std::abs(one) >= rounds_to_infinity && std::isfinite(one);
  };
  if (info_.number == Number::f16) {
    const auto found = std::ranges::find_if(scratch_, too_large);
    if (found != scratch_.end()) {
      keep(malformed(of_ + " has " + shown(*found) +
                     ", which f16 cannot hold; expected storage as f32 or bf16"));
    }
  }
  keep(spool_.put(base_ + at, scratch_));
}

// All tokens of the chunk, from row `at` of the trace on.
void Recorder::put_head(const Head& head, std::size_t tokens, std::uint64_t at) {
  const std::size_t dim = config_.head_dim;
  scratch_.resize(tokens * dim);
  for (std::size_t t = 0; t < tokens; ++t) {
    std::copy_n(head.rows + (t * head.heads + head.head) * dim, dim, scratch_.data() + t * dim);
  }
  put(at * dim);
}

// The recorded queries of the chunk, from row `at` of the trace and their numbers on.
void Recorder::put_queries(const Head& head, const Chunk& chunk, std::uint64_t at) {
  if (info_.queries.empty()) return put_head(head, chunk.tokens, at + chunk.first);
  const std::size_t dim = config_.head_dim;
  const auto begin = std::ranges::lower_bound(info_.queries, chunk.first);
  const auto end = std::ranges::lower_bound(info_.queries, chunk.first + chunk.tokens);
  scratch_.clear();
  for (auto query = begin; query != end; ++query) {
    const float* row = head.rows + ((*query - chunk.first) * head.heads + head.head) * dim;
    scratch_.insert(scratch_.end(), row, row + dim);
  }
  const auto number = static_cast<std::uint64_t>(begin - info_.queries.begin());
  put((at + number) * dim);
}

// The number of the query among the recorded ones.
std::optional<std::size_t> Recorder::row_of(Position query) const {
  if (info_.queries.empty()) return query;
  const auto at = std::ranges::lower_bound(info_.queries, query);
  if (at == info_.queries.end() || *at != query) return {};
  return static_cast<std::size_t>(at - info_.queries.begin());
}

void Recorder::keep(const Result<void>& done) {
  if (state_ && !done) state_ = done;
}

}  // namespace kv::model
