#include "kvcheck/policies/attention/lru.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/fair_share.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Lru final : public Policy {
 public:
  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= used_.size());
    ++queries_;
    used_.resize(n, queries_);  // a query uses its own token in any case
    for (std::size_t rank = 0; rank < n; ++rank) {
      if (fair_share(observation.mass[rank], n)) used_[rank] = queries_;
    }
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= used_.size());
    append_lowest(std::span<const double>(used_).subspan(candidates.first_rank, n),
                  n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(used_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Lru>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(queries_);
    writer.put(used_);
  }

  void load(ByteReader& reader) override {
    queries_ = reader.get<double>();
    reader.get(used_);
  }

 private:
  double queries_ = 0;        // observed so far
  std::vector<double> used_;  // [residents], by rank: the last query that used it, from 1
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "ageing"};

}  // namespace

std::unique_ptr<Policy> make_lru() {
  return std::make_unique<Lru>();
}

PolicyEntry lru_policy() {
  return {.name = "lru",
          .summary = "Evicts the token that least recently received at least the mean attention.",
          .protection = {},
          .parameters = {},
          .claims = claims,
          .source =
              "code graphcore-research/llm-inference-research, "
              "llminference/methods/eviction_attention.py, the strategy lru",
          .differs =
              "A query uses the tokens to which it pays at least its mean mass over what it saw, "
              "averaged over the unit's heads. Of equal scores the older token is evicted.",
          .cost = "O(residents) time a query; 8 bytes per resident",
          .make = [](const Options&) { return make_lru(); }};
}

}  // namespace kv
