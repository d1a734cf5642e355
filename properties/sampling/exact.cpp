#include "kvcheck/properties/sampling/exact.h"

#include <algorithm>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t most_outcomes = 256;  // of one draw

class TapeDraws final : public Draws {
 public:
  TapeDraws(Tape& tape, std::uint32_t unit) : tape_(tape), unit_(unit) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    return tape_.below(unit_, bound, position, index);
  }

  double uniform(Position /*position*/, std::uint32_t /*index*/) override {
    tape_.refuse("it draws real numbers, whose outcomes cannot be enumerated", true);
    return 0.5;
  }

 private:
  Tape& tape_;
  std::uint32_t unit_;
};

// Subsets in the order of subset_index.
std::vector<std::vector<std::uint32_t>> all_subsets(const Shape& shape) {
  std::vector<std::vector<std::uint32_t>> all(subset_count(shape));
  for (std::uint32_t bits = 0; bits < (1U << shape.n); ++bits) {
    std::vector<std::uint32_t> set;
    for (std::uint32_t i = 0; i < shape.n; ++i) {
      if ((bits >> i & 1U) != 0) set.push_back(i);
    }
    if (set.size() == shape.k) all[subset_index(set)] = std::move(set);
  }
  return all;
}

}  // namespace

DrawsOf Tape::draws() {
  return [this](std::uint32_t unit) { return std::make_unique<TapeDraws>(*this, unit); };
}

void Tape::refuse(const std::string& why, bool by_draws) {
  if (!refusal_.empty()) return;
  refusal_ = why;
  by_draws_ = by_draws;
}

// One counter may be asked for several bounds. Its value is one real number in [0, 1), scaled, so
// what an earlier answer says about it narrows the later ones.
std::vector<Tape::Outcome> Tape::outcomes_of(const Key& key, std::uint64_t bound) const {
  const auto found = known_.find(key);
  const Rational low = found == known_.end() ? Rational(0) : found->second.first;
  const Rational high = found == known_.end() ? Rational(1) : found->second.second;
  std::vector<Outcome> outcomes;
  for (std::uint64_t value = 0; value < bound; ++value) {
    const Rational from = std::max(low, Rational(value, bound));
    const Rational to = std::min(high, Rational(value + 1, bound));
    if (from < to) outcomes.push_back({value, (to - from) / (high - low), from, to});
  }
  return outcomes;
}

std::uint64_t Tape::below(std::uint32_t unit,
                          std::uint64_t bound,
                          Position position,
                          std::uint32_t index) {
  if (bound == 0 || bound > most_outcomes) {
    refuse("a draw has " + std::to_string(bound) + " outcomes, too many to enumerate", true);
    return 0;
  }
  const Key key{unit, position, index};
  if (const auto value = values_.find({key, bound}); value != values_.end()) return value->second;
  if (read_ == draws_.size()) draws_.push_back({outcomes_of(key, bound), 0});
  const Draw& draw = draws_[read_++];
  const Outcome& outcome = draw.outcomes[draw.at];
  known_[key] = {outcome.low, outcome.high};
  values_[{key, bound}] = outcome.value;
  return outcome.value;
}

// Advances like an odometer: the last draw that has another outcome takes it, and the draws behind
// it are forgotten, since they may come out differently or not at all.
bool Tape::next() {
  read_ = 0;
  known_.clear();
  values_.clear();
  if (!begun_) {
    begun_ = true;
    return true;
  }
  while (!draws_.empty() && draws_.back().at + 1 == draws_.back().outcomes.size()) {
    draws_.pop_back();
  }
  if (draws_.empty()) return false;
  ++draws_.back().at;
  return true;
}

Rational Tape::probability() const {
  Rational product = 1;
  for (const Draw& draw : draws_) product *= draw.outcomes[draw.at].share;
  return product;
}

namespace {

// `kept_by` runs one stream on the tape; an error ends the enumeration.
template <typename KeptBy>
ExactLaw enumerate_tape(const Shape& shape, std::uint64_t most_runs, KeptBy kept_by) {
  ExactLaw law;
  law.subsets.resize(subset_count(shape));
  Tape tape;
  while (tape.next()) {
    if (law.runs == most_runs) {
      tape.refuse("more than " + std::to_string(most_runs) + " outcomes", true);
    }
    if (!tape.refusal().empty()) break;
    const Result<std::vector<std::uint32_t>> kept = kept_by(tape);
    if (!kept) tape.refuse(kept.error().message);
    if (!tape.refusal().empty()) break;
    ++law.runs;
    law.subsets[subset_index(*kept)] += tape.probability();
  }
  law.refusal = tape.refusal();
  law.by_draws = tape.refused_by_draws();
  return law;
}

}  // namespace

ExactLaw enumerate(FamilySampler& sampler, std::uint64_t most_runs) {
  std::vector<Replicate> replicates;
  const auto kept_by = [&](Tape& tape) -> Result<std::vector<std::uint32_t>> {
    if (auto done = sampler.sample_with(tape.draws(), 0, replicates); !done) return done.error();
    return replicates[0].kept;
  };
  return enumerate_tape(sampler.shape(), most_runs, kept_by);
}

ExactLaw enumerate(const Shape& shape, const RunOnTape& run, std::uint64_t most_runs) {
  return enumerate_tape(shape, most_runs, [&](Tape& tape) -> Result<std::vector<std::uint32_t>> {
    TapeDraws draws(tape, 0);
    return run(draws);
  });
}

// Carries the distribution over all subsets from one newcomer to the next, as the law says.
std::vector<Rational> exact_subsets(ChanceLaw law, const Shape& shape) {
  const auto subsets = all_subsets(shape);
  std::vector<Rational> chances(subsets.size());
  std::vector<std::uint32_t> first(shape.k);
  for (std::uint32_t i = 0; i < shape.k; ++i) first[i] = i;
  chances[subset_index(first)] = 1;
  const Rational each_older(1, shape.k);
  for (std::uint32_t t = shape.k + 1; t <= shape.n; ++t) {
    Rational enters = 1;
    if (law == ChanceLaw::uniform) enters = Rational(shape.k, t);
    if (law == ChanceLaw::geometric) enters = Rational(shape.k, shape.k + 1);
    std::vector<Rational> after(subsets.size());
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      if (chances[s] == 0) continue;
      after[s] += chances[s] * (1 - enters);
      for (std::uint32_t gone = 0; gone < shape.k; ++gone) {
        std::vector<std::uint32_t> set = subsets[s];
        set.erase(set.begin() + gone);
        set.push_back(t - 1);
        after[subset_index(set)] += chances[s] * enters * each_older;
      }
    }
    chances = std::move(after);
  }
  return chances;
}

Rational apart(const Rational& a, const Rational& b) {
  return a < b ? Rational(b - a) : Rational(a - b);
}

Rational total_variation(const std::vector<Rational>& a, const std::vector<Rational>& b) {
  KV_CHECK(a.size() == b.size());
  Rational sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += apart(a[i], b[i]);
  return sum / 2;
}

std::vector<Rational> exact_inclusions(const std::vector<Rational>& subsets, const Shape& shape) {
  const auto sets = all_subsets(shape);
  std::vector<Rational> inclusions(shape.n);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const std::uint32_t token : sets[s]) inclusions[token] += subsets[s];
  }
  return inclusions;
}

std::string fraction_text(const Rational& value) {
  return value.str();
}

}  // namespace kv::properties
