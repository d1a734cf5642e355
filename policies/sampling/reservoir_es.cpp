#include "kvcheck/policies/sampling/reservoir_es.h"

#include <array>
#include <cmath>
#include <string_view>

#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class ReservoirEs final : public OneByOne {
 public:
  explicit ReservoirEs(Weight weight) : weights_(weight) {}

  [[nodiscard]] Needs needs() const override { return weights_.needs(); }

  void observe(const Observation& observation) override { weights_.observe(observation); }

  void forget(std::span<const std::size_t> ranks) override { weights_.forget(ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirEs>(*this);
  }

  void save(ByteWriter& writer) const override {
    weights_.save(writer);
    writer.put(keys_);
  }

  void load(ByteReader& reader) override {
    weights_.load(reader);
    reader.get(keys_);
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    for (std::size_t i = keys_.size(); i < candidates.positions.size(); ++i) {
      // ln(u) / w has the order of the source's u^(1/w), which underflows to 0 for small weights.
      keys_.push_back(std::log(draws.uniform(candidates.positions[i], 0)) /
                      weights_.at(candidates.first_rank + i));
    }
    std::vector<std::size_t> victim;
    append_lowest(std::span<const double>(keys_), 1, victim);
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(victim.front()));
    return victim.front();
  }

 private:
  TokenWeights weights_;
  std::vector<double> keys_;  // [k], of the middle in stream order; empty before it is full
};

constexpr auto claims = std::array<std::string_view, 1>{"constant-size"};

}  // namespace

std::unique_ptr<Policy> make_reservoir_es(Weight weight) {
  return std::make_unique<ReservoirEs>(weight);
}

PolicyEntry reservoir_es_policy() {
  return {.name = "reservoir-es",
          .summary = "Samples the middle by weight: keeps the tokens with the largest random keys.",
          .protection = {.sinks = 4},
          .parameters = weight_parameters(),
          .claims = claims,
          .source =
              "Efraimidis and Spirakis, \"Weighted random sampling with a reservoir\", "
              "Information Processing Letters 97(5), 2006, algorithm A-ES",
          .differs =
              "Keys are the logarithms of the source's keys. The use as an eviction policy is our "
              "own.",
          .cost =
              "O(k) time and one draw a token, O(residents) a query for weight=attention; 8 "
              "bytes per middle token and 8 (attention: 16) per resident",
          .make = [](const Options& options) { return make_reservoir_es(weight_of(options)); }};
}

}  // namespace kv
