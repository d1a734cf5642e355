#include "kvcheck/policies/content/key_norm.h"

#include <array>
#include <string_view>

#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class KeyNorm final : public OneByOne {
 public:
  [[nodiscard]] Needs needs() const override { return {.keys = true}; }

  void observe(const Observation& observation) override {
    const HeadVectors& keys = observation.keys;
    double sum = 0;
    for (std::size_t head = 0; head < keys.heads(); ++head) sum += norm_of(keys.head(head));
    // Negated: append_lowest finds the lowest, and among equals the older.
    shortness_.push_back(-sum / static_cast<double>(keys.heads()));
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(shortness_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<KeyNorm>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(shortness_); }

  void load(ByteReader& reader) override { reader.get(shortness_); }

 protected:
  std::size_t select(const Candidates& candidates, Draws&) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= shortness_.size());
    std::vector<std::size_t> victim;
    append_lowest(std::span<const double>(shortness_).subspan(candidates.first_rank, n), 1, victim);
    return victim.front();
  }

 private:
  std::vector<double> shortness_;  // [residents], by rank: minus the norm
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "deterministic"};

}  // namespace

std::unique_ptr<Policy> make_key_norm() {
  return std::make_unique<KeyNorm>();
}

PolicyEntry key_norm_policy() {
  return {.name = "key-norm",
          .summary = "Evicts the token with the longest key.",
          .protection = {},
          .parameters = {},
          .claims = claims,
          .source =
              "Devoto, Zhao, Scardapane and Minervini, \"A Simple and Effective L2 Norm-Based "
              "Strategy for KV Cache Compression\", EMNLP 2024, arXiv:2406.11430; code "
              "NVIDIA/kvpress, KnormPress",
          .differs =
              "The source compresses the prompt once; here the budget holds throughout. Norms are "
              "averaged over a unit's kv-heads. Of equal norms the older token is evicted.",
          .cost = "O(head_dim) time a token and O(middle) a decision; 8 bytes per resident",
          .make = [](const Options&) { return make_key_norm(); }};
}

}  // namespace kv
