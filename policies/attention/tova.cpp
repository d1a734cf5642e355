#include "kvcheck/policies/attention/tova.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Tova final : public Policy {
 public:
  [[nodiscard]] Needs needs() const override { return {.attention = true, .last_queries = 1}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    KV_CHECK(observation.mass.size() >= mass_.size());
    mass_.assign(observation.mass.begin(), observation.mass.end());
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= mass_.size());
    append_lowest(std::span(mass_).subspan(candidates.first_rank, n), n - candidates.capacity,
                  victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  std::span<const double> scores(const PooledCandidates& candidates) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= mass_.size());
    const auto mass = std::span(mass_).subspan(candidates.first_rank, n);
    // Floats and their doubles have the same order, so evict() and a shared decision agree.
    scores_.assign(mass.begin(), mass.end());
    return scores_;
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(mass_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Tova>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(mass_); }

  void load(ByteReader& reader) override { reader.get(mass_); }

 private:
  std::vector<float> mass_;     // [residents], by rank, of the last query
  std::vector<double> scores_;  // scratch
};

// Not independent of chunking: a trim uses only the last query, and chunks determine when it comes.
constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "deterministic", "score-driven"};

}  // namespace

std::unique_ptr<Policy> make_tova() {
  return std::make_unique<Tova>();
}

PolicyEntry tova_policy() {
  return {.name = "tova",
          .summary = "Evicts the tokens to which the last query paid the least attention.",
          .protection = {.recent_percent = 0},
          .parameters = {},
          .claims = claims,
          .source =
              "Oren et al., \"Transformers are Multi-State RNNs\", arXiv:2401.06104, the policy "
              "TOVA; code schwartz-lab-NLP/TOVA, src/tova_cache.py",
          .differs =
              "In the paper all heads of a layer share their residents, which is unit=layer here "
              "(preset @tova). Of equal scores the older token is evicted.",
          .cost = "O(residents) time a query; 4 bytes per resident",
          .make = [](const Options&) { return make_tova(); }};
}

}  // namespace kv
