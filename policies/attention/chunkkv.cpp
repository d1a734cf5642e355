#include "kvcheck/policies/attention/chunkkv.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/recent_votes.h"
#include "kvcheck/policies/parts/voting_parameters.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Chunkkv final : public Policy {
 public:
  Chunkkv(std::size_t length, std::size_t window)
      : length_(length), window_(window), votes_(window) {
    KV_CHECK(length >= 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .last_queries = window_};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override { votes_.add(observation.mass); }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    const std::size_t capacity = candidates.capacity;
    const std::span<const double> votes = votes_.sums(candidates.first_rank, n);
    const std::size_t chunks = n / length_;
    const std::size_t rest = n % length_;
    std::vector<double> scores(chunks);
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto members = votes.subspan(i * length_, length_);
      scores[i] = std::accumulate(members.begin(), members.end(), 0.0);
    }
    append_lowest_blocks(scores, length_, rest, capacity, victims);
    if (rest <= capacity) return;
    // Reached only if every whole chunk is evicted: the tokens of the rest then compete one by one.
    std::vector<std::size_t> leaving;
    append_lowest(votes.last(rest), rest - capacity, leaving);
    for (const std::size_t i : leaving) victims.push_back(n - rest + i);
  }

  void forget(std::span<const std::size_t> ranks) override { votes_.forget(ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Chunkkv>(*this);
  }

  void save(ByteWriter& writer) const override { votes_.save(writer); }

  void load(ByteReader& reader) override { votes_.load(reader); }

 private:
  std::size_t length_;
  std::size_t window_;
  RecentVotes votes_;
};

// Not of constant size: an evicted chunk leaves room that the next tokens fill.
constexpr auto claims = std::array<std::string_view, 3>{"deterministic", "score-driven", "pooled"};

constexpr auto parameters = std::array<Parameter, 2>{{
    {.name = "length",
     .default_value = "10",
     .meaning = "tokens of the stream that are kept or evicted together",
     .range = counts(1, 4096)},
    voting_window,
}};

}  // namespace

std::unique_ptr<Policy> make_chunkkv(std::size_t length, std::size_t window) {
  return std::make_unique<Chunkkv>(length, window);
}

PolicyEntry chunkkv_policy() {
  return {.name = "chunkkv",
          .summary = "Keeps the chunks of tokens to which the last queries attend.",
          .protection = {},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Liu et al., \"ChunkKV: Semantic-Preserving KV Cache Compression for Efficient "
              "Long-Context LLM Inference\", NeurIPS 2025, arXiv:2502.00299, algorithm 1; code "
              "NVIDIA/kvpress, ChunkKVPress",
          .differs =
              "The source compresses only the prompt, and its layers may reuse the selection of "
              "another layer. Tokens that do not make a whole chunk yet are kept; in the source "
              "they compete as a chunk. Of equal scores the older chunk is evicted.",
          .cost =
              "O(residents) time a query; O(middle * window) time a trim, of which there is one in "
              "`length` tokens; 4 * window bytes per resident",
          .make = [](const Options& options) {
            return make_chunkkv(options.count("length"), options.count("window"));
          }};
}

}  // namespace kv
