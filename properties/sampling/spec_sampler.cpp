#include "kvcheck/properties/sampling/spec_sampler.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// Even attention, and tokens that all bring the same.
void show_evenly(UnitCache& cache, std::size_t seen, std::vector<float>& mass) {
  static constexpr std::array<float, 4> same = {1, 1, 1, 1};
  if (!cache.needs().any()) return;
  mass.assign(seen, 1.0F / static_cast<float>(seen));
  const HeadVectors vectors = {same, same.size()};
  cache.observe({.mass = mass, .keys = vectors, .values = vectors, .queries = vectors});
}

// Tokens released to the middle after `tokens`, by a run of the cache itself.
std::uint32_t entered_after(const Spec& spec, std::uint32_t tokens) {
  UnitCache cache(spec, std::make_unique<CounterDraws>(Rng(0)));
  std::vector<float> mass;
  for (std::uint32_t fed = 0; fed < tokens;) {
    const std::uint32_t chunk = std::min(std::max(1U, spec.chunk), tokens - fed);
    cache.begin_chunk(chunk);
    for (std::uint32_t i = 0; i < chunk; ++i) {
      show_evenly(cache, cache.next_query().size(), mass);
    }
    cache.end_chunk();
    cache.clear_evicted();
    fed += chunk;
  }
  const Position tail = cache.all().recent.first;
  return tail > spec.sinks ? tail - spec.sinks : 0;
}

// Draws of the caller's, lent to a cache that owns its own.
class LentDraws final : public Draws {
 public:
  explicit LentDraws(Draws& draws) : draws_(draws) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    return draws_.below(bound, position, index);
  }

  double uniform(Position position, std::uint32_t index) override {
    return draws_.uniform(position, index);
  }

 private:
  Draws& draws_;
};

}  // namespace

Result<Shape> shape_of(const Spec& spec, std::uint32_t tokens) {
  if (!spec.bounded() || spec.middle() == 0) {
    return usage_error("'" + spec.label() +
                       "' samples nothing: it has no middle between sinks and recent tokens");
  }
  if (spec.budgets.shared()) {
    return usage_error("'" + spec.label() +
                       "' shares a layer's budget by score: no head samples a number of tokens of "
                       "its own; expected budgets=equal");
  }
  const Shape shape{.n = entered_after(spec, tokens), .k = spec.middle()};
  if (shape.n <= shape.k) {
    return usage_error("--tokens " + std::to_string(tokens) + " evicts nothing from a budget of " +
                       std::to_string(spec.budget) + ": more tokens are needed");
  }
  return shape;
}

Result<std::uint32_t> tokens_for(const Spec& spec, std::uint32_t n) {
  std::uint32_t tokens = spec.sinks + spec.recent + n;
  const std::uint32_t most = tokens + spec.slack + spec.chunk + spec.recent + 1;
  for (; tokens <= most; ++tokens) {
    if (entered_after(spec, tokens) >= n) return tokens;
  }
  return usage_error("no stream fills the middle of '" + spec.label() + "'");
}

SpecSampler::SpecSampler(const Spec& spec, std::uint32_t tokens)
    : spec_(std::make_shared<const Spec>(spec)),
      tokens_(tokens),
      shape_(*shape_of(spec, tokens)),
      in_bulk_(spec.policy->make(spec.options)->leaving() == Leaving::in_bulk) {}

void SpecSampler::run(UnitCache& cache, Replicate& replicate) {
  replicate.kept.clear();
  replicate.gone.clear();
  reported_ = true;
  const std::uint32_t chunk = std::max(1U, spec_->chunk);
  for (std::uint32_t fed = 0; fed < tokens_; fed += chunk) {
    feed(cache, std::min(chunk, tokens_ - fed), replicate);
  }
  for (const Position position : cache.all().middle) {
    replicate.kept.push_back(position - spec_->sinks);
  }
  if (!reported_ || replicate.gone.size() != shape_.n - shape_.k) replicate.gone.clear();
}

Result<void> SpecSampler::sample(std::uint64_t seed, Replicate& replicate) {
  UnitCache cache(*spec_, std::make_unique<CounterDraws>(Rng(seed)));
  run(cache, replicate);
  if (!cache.broken_promise().empty()) return malformed(cache.broken_promise());
  if (replicate.kept.size() == shape_.k) return {};
  return Error{Error::Kind::unsupported,
               "the middle holds " + std::to_string(replicate.kept.size()) + " tokens instead of " +
                   std::to_string(shape_.k) + ": it is no sample of k"};
}

std::vector<std::uint32_t> SpecSampler::kept_with(Draws& draws) {
  UnitCache cache(*spec_, std::make_unique<LentDraws>(draws));
  Replicate replicate;
  run(cache, replicate);
  return replicate.kept;
}

void SpecSampler::feed(UnitCache& cache, std::uint32_t chunk, Replicate& replicate) {
  cache.begin_chunk(chunk);
  for (std::uint32_t i = 0; i < chunk; ++i) {
    show_evenly(cache, cache.next_query().size(), mass_);
  }
  cache.end_chunk();
  if (!cache.evicted().empty()) note_decisions(cache, replicate);
}

// The newcomers of a call's decisions are the last to have entered, one a decision. The rank of an
// evicted token counts the older ones that are still resident or were evicted later.
void SpecSampler::note_decisions(UnitCache& cache, Replicate& replicate) {
  const std::span<const Position> evicted = cache.evicted();
  const Visible now = cache.all();
  const auto entered = static_cast<std::uint32_t>(now.recent.first - spec_->sinks);
  const std::size_t decided = entered - shape_.k - replicate.gone.size();
  if (evicted.size() != decided || (in_bulk_ && decided > 1)) {
    reported_ = false;
    cache.clear_evicted();
    return;
  }
  for (std::size_t i = 0; i < evicted.size(); ++i) {
    const Position newcomer = now.recent.first - static_cast<Position>(evicted.size() - i);
    if (evicted[i] == newcomer) {
      replicate.gone.push_back(shape_.k);
      continue;
    }
    auto rank = static_cast<std::uint32_t>(std::ranges::lower_bound(now.middle, evicted[i]) -
                                           now.middle.begin());
    for (std::size_t later = i + 1; later < evicted.size(); ++later) {
      if (evicted[later] < evicted[i]) ++rank;
    }
    replicate.gone.push_back(rank);
  }
  cache.clear_evicted();
}

}  // namespace kv::properties
