#include "policies/h2o.h"

#include "base/check.h"
#include "policies/by_rank.h"

namespace kv {
namespace {

class H2o final : public Policy {
 public:
  explicit H2o(Normalise normalise) : normalise_(normalise) {}

  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= gathered_.size());
    gathered_.resize(n);
    if (normalise_ == Normalise::age) born_.resize(n, static_cast<double>(queries_));
    ++queries_;
    add_mass(gathered_, observation.mass);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= gathered_.size());
    append_lowest(scores(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_ranks(gathered_, ranks);
    erase_ranks(born_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<H2o>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(queries_);
    writer.put(gathered_);
    for (const double born : born_) writer.put(born);
  }

  void load(ByteReader& reader) override {
    queries_ = reader.get<std::uint64_t>();
    reader.get(gathered_);
    born_.resize(normalise_ == Normalise::age ? gathered_.size() : 0);
    for (double& born : born_) born = reader.get<double>();
  }

 private:
  // The scores of n ranks; the view holds until the next call.
  std::span<const double> scores(std::size_t first_rank, std::size_t n) {
    const auto gathered = std::span(gathered_).subspan(first_rank, n);
    if (normalise_ == Normalise::none) return gathered;
    scores_.resize(n);
    const double* const born = born_.data() + first_rank;
    const auto queries = static_cast<double>(queries_);
    for (std::size_t i = 0; i < n; ++i) scores_[i] = gathered[i] / (queries - born[i]);
    return scores_;
  }

  Normalise normalise_;
  std::uint64_t queries_ = 0;     // observed so far
  std::vector<double> gathered_;  // [residents], by rank: mass since arrival
  std::vector<double> born_;      // [residents]: queries_ at arrival; only for normalise=age
  std::vector<double> scores_;    // scratch
};

}  // namespace

std::unique_ptr<Policy> make_h2o(Normalise normalise) {
  return std::make_unique<H2o>(normalise);
}

}  // namespace kv
