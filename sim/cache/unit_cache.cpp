#include "kvcheck/sim/cache/unit_cache.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/guarded.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {
constexpr std::size_t no_gap = std::numeric_limits<std::size_t>::max();

// Replaces a policy that threw: its state may be anything. It evicts the oldest.
class Replacement final : public Policy {
 public:
  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    victims.resize(candidates.positions.size() - candidates.capacity);
    std::iota(victims.begin(), victims.end(), std::size_t{0});
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Replacement>();
  }

  [[nodiscard]] bool scores_compare() const override { return true; }
};

std::unique_ptr<Policy> policy_of(const Spec& spec) {
  // The layer is set before needs() and masked_below() are called.
  std::unique_ptr<Policy> policy = spec.policy->make(spec.options);
  policy->set_layer(spec.layer);
  return policy;
}

std::size_t slack_of(const Spec& spec) {
  if (spec.phases.then == Phases::Then::every) return spec.phases.period - 1;
  return spec.timing == Timing::lazy ? spec.slack : 0;
}

}  // namespace

UnitCache::Rules::Rules(const Spec& spec, const Policy& policy)
    : policy_name(spec.policy->name),
      bounded(spec.bounded()),
      timing(spec.timing),
      visibility(spec.visibility),
      in_bulk(policy.leaving() == Leaving::in_bulk),
      shares(spec.budgets.shared()),
      floor(shares ? adaptive_floor(spec) : 0),
      at_ranks(are_ranks(spec.positions)),
      masked_below(policy.masked_below(spec.sinks)),
      sinks(bounded ? spec.sinks : 0),
      recent(spec.recent),
      capacity(bounded ? spec.middle() : 0),
      budget(spec.budget),
      slack(slack_of(spec)),
      first_trim(spec.phases.first_trim),
      once(spec.phases.marked() && spec.phases.then == Phases::Then::grow),
      needs(policy.needs()) {
  KV_CHECK(is_resolved(spec));
  KV_CHECK(!bounded || std::uint64_t{spec.sinks} + spec.recent <= spec.budget);
  KV_CHECK(!bounded || visibility == Visibility::causal || recent > 0);
  KV_CHECK(!shares || (bounded && policy.scores_compare()));
}

UnitCache::UnitCache(const Spec& spec, std::unique_ptr<Draws> draws)
    : policy_(policy_of(spec)), draws_(std::move(draws)), rules_(spec, *policy_) {
  state_.tail = rules_.sinks;
  state_.first_gap = no_gap;
}

UnitCache::UnitCache(const UnitCache& other, std::unique_ptr<Draws> draws)
    : draws_(std::move(draws)), rules_(other.rules_), state_(other.state_) {
  ask([&] { policy_ = other.policy_->clone(); });
}

template <typename Call>
void UnitCache::ask(const Call& call) {
  const auto thrown = thrown_by(call);
  if (!thrown) return;
  break_promise(*thrown);
  policy_ = std::make_unique<Replacement>();
}

// Only the first error is recorded, because later ones may follow from it.
void UnitCache::break_promise(const std::string& what) {
  if (!state_.broken_promise.empty()) return;
  state_.broken_promise = "policy '" + std::string(rules_.policy_name) + "' " + what;
}

void UnitCache::rotate_by(const Rotation* rotation) {
  ask([&] { policy_->rotate_by(rotation, rules_.at_ranks); });
}

void UnitCache::begin_chunk(std::size_t tokens) {
  KV_CHECK(!rules_.shares);
  make_room(tokens);
  store(tokens);
}

void UnitCache::make_room(std::size_t tokens) {
  KV_CHECK(state_.query == state_.seen && tokens > 0);
  KV_CHECK(tokens <= std::numeric_limits<Position>::max() - state_.seen);
  // With windows every query makes its own room, in next_query.
  const bool first = rules_.timing == Timing::trim_then_attend;
  if (state_.seen < rules_.first_trim || rules_.once) return;
  if (first && rules_.visibility == Visibility::causal)
    release_all_but(rules_.recent, state_.seen + tokens);
}

void UnitCache::store(std::size_t tokens) {
  state_.first_due = state_.seen < rules_.first_trim;
  if (rules_.timing == Timing::trim_then_attend) free_rows();
  for (std::size_t i = 0; i < tokens; ++i) {
    state_.seen < rules_.sinks ? state_.slots.append_sink() : state_.slots.append_tail();
    ++state_.seen;
  }
}

const Visible& UnitCache::next_query() {
  KV_CHECK(state_.query < state_.seen);
  ++state_.query;
  if (rules_.visibility == Visibility::window) {
    if (!rules_.shares) release_all_but(rules_.recent, state_.query);
    KV_CHECK(!rules_.shares || state_.query <= rules_.recent ||
             state_.tail >= state_.query - rules_.recent);
  }
  // Assigned in place: a copy of a whole Visible would wait for the stores of its parts.
  scratch_.visible.sinks = {0, std::min(rules_.sinks, state_.query)};
  scratch_.visible.middle = state_.middle;
  scratch_.visible.recent = {state_.tail, std::max(state_.tail, state_.query)};
  return scratch_.visible;
}

Visible UnitCache::visible_to(Position query) const {
  KV_CHECK(rules_.visibility == Visibility::causal || !rules_.bounded);
  KV_CHECK(state_.query <= query && query < state_.seen);
  return {{0, std::min(rules_.sinks, query + 1)},
          state_.middle,
          {state_.tail, std::max(state_.tail, query + 1)}};
}

void UnitCache::observe(Observation shown) {
  KV_CHECK(rules_.needs.any() && state_.query > 0);
  // The cache numbers queries itself, so that no caller can attribute draws to another position.
  shown.query = state_.query - 1;
  shown.draws = draws_.get();
  ask([&] { policy_->observe(shown); });
}

void UnitCache::release_for_query() {
  KV_CHECK(state_.query < state_.seen);
  if (rules_.visibility == Visibility::window)
    release_all_but(rules_.recent, state_.query + std::size_t{1});
}

std::int64_t UnitCache::over_budget() const {
  KV_CHECK(state_.query == state_.seen);
  if (!rules_.bounded || state_.seen < rules_.first_trim) return 0;
  const auto rows = static_cast<std::int64_t>(trimmable());
  if (state_.first_due) return rows - static_cast<std::int64_t>(rules_.budget);
  if (rules_.once || rules_.timing == Timing::trim_then_attend) return 0;
  return rows - static_cast<std::int64_t>(rules_.budget + rules_.slack);
}

void UnitCache::end_chunk() {
  KV_CHECK(!rules_.shares);
  if (over_budget() <= 0) return;
  release_all_but(rules_.recent, state_.seen);
  free_rows();
}

Visible UnitCache::all() const {
  return {{0, static_cast<Position>(sinks_held())},
          state_.middle,
          {state_.tail, std::max(state_.tail, state_.seen)}};
}

void UnitCache::release_all_but(std::size_t recent, std::size_t end) {
  scratch_.newcomers = 0;
  if (!rules_.bounded || end <= recent) return;
  const auto first_kept = std::min<std::size_t>(end - recent, state_.seen);
  if (rules_.capacity == 0) {
    while (state_.tail < first_kept) evict_next();
    return;
  }
  std::size_t newcomers = 0;
  while (state_.tail < first_kept) {
    release_next();
    ++newcomers;
    if (!rules_.in_bulk && !rules_.shares && state_.middle.size() > rules_.capacity) decide(1);
  }
  scratch_.newcomers = newcomers;
  if (rules_.shares) return;
  if (rules_.in_bulk && state_.middle.size() > rules_.capacity) decide(newcomers);
}

void UnitCache::release_next() {
  state_.middle.push_back(state_.tail++);
  state_.slots.tail_to_middle();
  ++state_.entered;
}

void UnitCache::evict_next() {
  const std::size_t rank = sinks_held();
  ask([&] { policy_->forget({&rank, 1}); });
  const bool masked = state_.tail < rules_.masked_below;
  state_.evicted.push_back(state_.tail++);
  masked ? state_.slots.mask_tail() : state_.slots.evict_tail();
  ++state_.entered;
  // A masked row remains stored, so it leaves no gap to close.
  if (!masked) state_.first_gap = std::min(state_.first_gap, rank);
}

bool UnitCache::victims_fit() const {
  const std::vector<std::size_t>& victims = scratch_.victims;
  const std::size_t candidates = state_.middle.size();
  return victims.size() + rules_.capacity >= candidates && victims.back() < candidates &&
         std::ranges::adjacent_find(victims, std::greater_equal()) == victims.end();
}

std::string UnitCache::wrong_victims() const {
  const std::vector<std::size_t>& victims = scratch_.victims;
  const std::size_t candidates = state_.middle.size();
  const std::size_t least = candidates - rules_.capacity;
  const auto unordered = std::ranges::adjacent_find(victims, std::greater_equal());
  std::string found = std::to_string(victims.empty() ? 0 : victims.back());
  if (victims.size() < least) found = "only " + std::to_string(victims.size());
  if (unordered != victims.end()) {
    found = std::to_string(unordered[0]) + " and then " + std::to_string(unordered[1]);
  }
  return "names victims that are none: found " + found + "; expected at least " +
         std::to_string(least) + " in increasing order, below the " + std::to_string(candidates) +
         " candidates";
}

void UnitCache::decide(std::size_t newcomers) {
  std::vector<std::size_t>& victims = scratch_.victims;
  victims.clear();
  const Candidates candidates = {state_.middle, newcomers, rules_.capacity, sinks_held(),
                                 state_.entered};
  ask([&] { policy_->evict(candidates, *draws_, victims); });
  if (!victims_fit()) {
    break_promise(wrong_victims());
    victims.resize(state_.middle.size() - rules_.capacity);
    std::iota(victims.begin(), victims.end(), std::size_t{0});
  }
  drop_victims();
}

std::span<const double> UnitCache::scores_of_middle() {
  std::span<const double> scores;
  ask([&] { scores = policy_->scores({state_.middle, scratch_.newcomers, sinks_held()}); });
  if (scores.size() == state_.middle.size()) return scores;
  break_promise("gives " + std::to_string(scores.size()) + " scores of " +
                std::to_string(state_.middle.size()) + " candidates");
  scratch_.no_scores.assign(state_.middle.size(), 0);
  return scratch_.no_scores;
}

void UnitCache::drop_victims() {
  if (scratch_.victims.empty()) return;
  const std::size_t first_rank = sinks_held();
  scratch_.ranks.clear();
  for (const std::size_t victim : scratch_.victims) scratch_.ranks.push_back(first_rank + victim);
  // Before the middle changes: ranks are those before the eviction.
  ask([&] { policy_->forget(scratch_.ranks); });
  for (const std::size_t victim : scratch_.victims) {
    const Position position = state_.middle[victim];
    state_.evicted.push_back(position);
    if (position >= rules_.masked_below)
      state_.first_gap = std::min(state_.first_gap, first_rank + victim);
  }
  // From the last victim on, so that the indices of the others remain valid.
  for (std::size_t i = scratch_.victims.size(); i-- > 0;) {
    const auto at = state_.middle.begin() + static_cast<std::ptrdiff_t>(scratch_.victims[i]);
    *at < rules_.masked_below ? state_.slots.mask_middle(scratch_.victims[i])
                              : state_.slots.evict_middle(scratch_.victims[i]);
    state_.middle.erase(at);
  }
}

void UnitCache::free_rows() {
  if (state_.slots.unfreed() == 0) return;
  ++state_.counts.trims;
  state_.counts.evicted += state_.slots.unfreed();
  state_.counts.moved += residents() - std::min(state_.first_gap, residents());
  state_.slots.free_evicted();
  state_.first_gap = no_gap;
}

}  // namespace kv
