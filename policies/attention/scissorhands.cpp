#include "kvcheck/policies/attention/scissorhands.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/fair_share.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Scissorhands final : public Policy {
 public:
  Scissorhands(std::size_t history, std::size_t drop_percent)
      : history_(history), words_((history + 63) / 64), drop_percent_(drop_percent) {
    KV_CHECK(history >= 1 && drop_percent < 100);
  }

  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= high_.size());
    low_bits_.resize(n * words_);
    high_.resize(n);
    // One bit per query of the history, so that the count remains exact when a query leaves the
    // window: the new bit replaces the one that is `history` queries old.
    const std::size_t slot = queries_++ % history_;
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    for (std::size_t rank = 0; rank < n; ++rank) {
      std::uint64_t& word = low_bits_[rank * words_ + slot / 64];
      const bool was_low = (word & bit) != 0;
      const bool is_low = !fair_share(observation.mass[rank], n);
      if (was_low == is_low) continue;
      word ^= bit;
      high_[rank] += is_low ? -1 : 1;
    }
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= high_.size());
    // Beyond what must be evicted, so that the next trims need no decision.
    const std::size_t dropped = candidates.capacity * drop_percent_ / 100;
    append_lowest(std::span<const double>(high_).subspan(candidates.first_rank, n),
                  n - candidates.capacity + dropped, victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_rows(low_bits_, ranks, words_);
    erase_ranks(high_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Scissorhands>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(queries_);
    writer.put(high_);
    for (const std::uint64_t word : low_bits_) writer.put(word);
  }

  void load(ByteReader& reader) override {
    queries_ = reader.get<std::uint64_t>();
    reader.get(high_);
    low_bits_.resize(high_.size() * words_);
    for (std::uint64_t& word : low_bits_) word = reader.get<std::uint64_t>();
  }

 private:
  std::size_t history_;
  std::size_t words_;  // of 64 queries each
  std::size_t drop_percent_;
  std::uint64_t queries_ = 0;            // observed so far
  std::vector<std::uint64_t> low_bits_;  // [residents, words], by rank: bit q % history for query q
  std::vector<double> high_;             // [residents]: minus the number of set bits
};

// Not of constant size, because a decision evicts more than it must.
constexpr auto claims = std::array<std::string_view, 3>{"deterministic", "score-driven", "ageing"};

constexpr auto parameters = std::array<Parameter, 2>{{
    {.name = "history",
     .default_value = "400",
     .meaning = "how many past queries count",
     .range = counts(1, 65536)},
    {.name = "drop",
     .default_value = "50",
     .meaning = "the percentage of the middle that is evicted once the middle exceeds its capacity",
     .range = counts(0, 99)},
}};

}  // namespace

std::unique_ptr<Policy> make_scissorhands(std::size_t history, std::size_t drop_percent) {
  return std::make_unique<Scissorhands>(history, drop_percent);
}

PolicyEntry scissorhands_policy() {
  return {.name = "scissorhands",
          .summary = "Evicts the tokens that most often received less than the mean attention.",
          .protection = {},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Liu et al., \"Scissorhands: Exploiting the Persistence of Importance "
              "Hypothesis for LLM KV Cache Compression at Test Time\", NeurIPS 2023, "
              "arXiv:2305.17118, algorithm 2",
          .differs =
              "The authors published no code. Mass is renormalised over the visible tokens and "
              "averaged over the unit's heads. Of equal scores the older token is evicted.",
          .cost = "O(residents) time a query; history / 8 + 8 bytes per resident",
          .make = [](const Options& options) {
            return make_scissorhands(options.count("history"), options.count("drop"));
          }};
}

}  // namespace kv
