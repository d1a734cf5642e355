#include "kvcheck/properties/laws/relations/referee.h"

#include <algorithm>
#include <utility>

#include "kvcheck/properties/subjects/spec_caches.h"
#include "kvcheck/sim/cache/budget_pool.h"

namespace kv::properties {
namespace {

Tokens tokens_at(const std::vector<Position>& positions, const std::vector<Token>& branch) {
  Tokens tokens;
  for (const Position position : positions) tokens.push_back(branch[position]);
  return tokens;
}

}  // namespace

Referee::Referee(
    const History& history, const Spec& spec, Compared compare, std::string name, Masses masses)
    : history_(history),
      spec_(spec),
      compare_(compare),
      name_(std::move(name)),
      masses_(masses),
      heads_{history.what.setup, history.contract.unit},
      per_cache_(heads_.sharing()),
      together_(units_in_pool(spec, heads_.in_layer())) {
  branches_.push_back(fresh());
}

// One for each cache of the reference.
std::vector<std::shared_ptr<Draws>> Referee::draws_of(std::size_t reference) const {
  const DrawsOf draws = counter_draws(history_.what.setup.seed);
  std::vector<std::shared_ptr<Draws>> all;
  for (std::size_t cache = reference * together_; cache < (reference + 1) * together_; ++cache) {
    all.push_back(draws(static_cast<std::uint32_t>(cache * per_cache_)));
  }
  return all;
}

Referee::Branch Referee::fresh(std::uint64_t prompt) const {
  Branch branch;
  const Spec spec = for_prompt(spec_, prompt);
  for (std::size_t i = 0; i < history_.units() / per_cache_ / together_; ++i) {
    const Place place = history_.place_of(i * together_ * per_cache_);
    branch.references.emplace_back(
        spec_at(spec, history_.contract.unit, history_.what.setup, place), draws_of(i));
  }
  return branch;
}

std::optional<Finding> Referee::judge() {
  for (const Step& step : steps_of(history_)) {
    const Event& event = *step.event;
    if (event.facts.units.size() != history_.units()) return std::nullopt;
    if (event.refused) continue;
    prepare(event);
    Branch& branch = branches_[event.call.branch];
    if (!step.fed() || branch.lost) continue;
    if (auto finding = feed(step, branch)) return finding;
  }
  return std::nullopt;
}

void Referee::prepare(const Event& event) {
  const std::size_t at = event.call.branch;
  if (event.call.kind == Call::Kind::fork) {
    while (branches_.size() < event.branches) {
      Branch copy = branches_[at];
      branches_.push_back(std::move(copy));
    }
  } else if (event.call.kind == Call::Kind::reset) {
    branches_[at] = fresh();
  } else if (event.call.kind == Call::Kind::truncate) {
    // What the tokens evicted before they were taken back is unknown to the reference.
    branches_[at].lost = true;
  } else if (event.call.kind == Call::Kind::reorder) {
    reorder(event.call.from, branches_[at]);
  }
}

void Referee::reorder(const std::vector<std::uint32_t>& from, Branch& branch) const {
  const std::size_t sequences = history_.what.setup.sequences;
  const std::size_t per_sequence = branch.references.size() / sequences;
  std::vector<ReferenceCache> references;
  for (const std::uint32_t sequence : from) {
    for (std::size_t i = 0; i < per_sequence && sequence < sequences; ++i) {
      // Draws belong to the place and stay there; residents move.
      references.push_back(
          branch.references[sequence * per_sequence + i].with(draws_of(references.size())));
    }
  }
  if (references.size() != branch.references.size()) {
    branch.lost = true;
    return;
  }
  branch.references = std::move(references);
}

// The mean over the query heads that share the cache's residents.
std::vector<float> Referee::mass_of(const Event& event,
                                    std::size_t cache,
                                    const std::vector<Position>& visible,
                                    Position query) const {
  const std::uint32_t heads = heads_.group();
  const Tokens keys = tokens_at(visible, event.branch);
  if (masses_ == Masses::reported) return reported_mass(event, cache, keys, query);
  std::vector<float> mass(keys.size());
  std::vector<float> sum(keys.size());
  for (std::size_t i = 0; i < per_cache_; ++i) {
    const Place place = history_.place_of(cache * per_cache_ + i);
    for (std::uint32_t head = 0; head < heads; ++head) {
      visible_mass(history_.what.stream, {place.sequence, place.layer, place.head * heads + head},
                   event.branch[query], keys, mass);
      for (std::size_t k = 0; k < keys.size(); ++k) sum[k] += mass[k];
    }
  }
  for (float& value : sum) value /= static_cast<float>(per_cache_ * heads);
  return sum;
}

// Rows that the cache did not give to attention got none.
std::vector<float> Referee::reported_mass(const Event& event,
                                          std::size_t cache,
                                          const Tokens& keys,
                                          Position query) const {
  const std::size_t of_chunk = query - (event.branch.size() - event.fed.size());
  std::vector<float> sum(keys.size());
  for (std::size_t i = 0; i < per_cache_; ++i) {
    const UnitFacts& unit = event.facts.units[cache * per_cache_ + i];
    for (std::size_t row = 0; row < unit.returned.size(); ++row) {
      const auto key = std::ranges::lower_bound(keys, unit.returned[row].value);
      if (key == keys.end() || *key != unit.returned[row].value) continue;
      sum[static_cast<std::size_t>(key - keys.begin())] += weight(unit, of_chunk, row);
    }
  }
  for (float& value : sum) value /= static_cast<float>(per_cache_);
  return sum;
}

TokenInputs Referee::inputs_of(std::size_t cache, Token token) const {
  std::vector<InputUnit> units;
  for (std::size_t i = 0; i < per_cache_; ++i) {
    units.push_back(input_unit(history_.place_of(cache * per_cache_ + i), history_.contract.unit,
                               history_.what.setup));
  }
  return token_inputs(history_.what.stream, units, token);
}

std::optional<Finding> Referee::feed(const Step& step, Branch& branch) {
  const Event& event = *step.event;
  if (spec_.phases.marked() && step.tokens_before() == 0) branch = fresh(event.fed.size());
  for (std::size_t i = 0; i < branch.references.size(); ++i) {
    // Rows of another layer are compared there, with what that layer's queries decide.
    const Place place = history_.place_of(i * together_ * per_cache_);
    if (!history_.contract.owns_rows(place.layer)) continue;
    ReferenceCache& reference = branch.references[i];
    std::vector<MassOf> masses;
    std::vector<InputsOf> inputs;
    for (std::size_t cache = i * together_; cache < (i + 1) * together_; ++cache) {
      masses.emplace_back([this, &event, cache](const auto& visible, Position query) {
        return mass_of(event, cache, visible, query);
      });
      inputs.emplace_back(
          [this, &event, cache](Position token) { return inputs_of(cache, event.branch[token]); });
    }
    const auto visible = reference.feed(event.fed.size(), masses, inputs);
    // Once a decision hangs on rounding, subject and reference may rightly differ from there on.
    if (reference.doubtful()) {
      branch.lost = true;
      return std::nullopt;
    }
    compared_ = true;
    for (std::size_t unit = 0; unit < together_ * per_cache_; ++unit) {
      const std::size_t at = i * together_ * per_cache_ + unit;
      auto finding = compare(step, at, visible[unit / per_cache_]);
      if (!finding && compare_ != Compared::visible) finding = compare_stored(step, at, reference);
      if (finding) return finding;
    }
  }
  return std::nullopt;
}

std::optional<Finding> Referee::compare(const Step& step,
                                        std::size_t unit,
                                        const ReferenceCache::Visible& visible) const {
  const Event& event = *step.event;
  const UnitFacts& facts = event.facts.units[unit];
  for (std::size_t query = 0; query < visible.size(); ++query) {
    const Tokens requested = tokens_at(visible[query], event.branch);
    const Tokens seen = visible_to(facts, query);
    if (seen == requested) continue;
    return QueryView{{history_, history_.contract, step, unit, facts}, query}.finding(
        "sees what " + name_ + " shows it: " + text_of(requested), "it sees " + text_of(seen),
        requested);
  }
  return std::nullopt;
}

// Where queries have windows of their own and rows need not be freed at once, hidden rows may wait
// in memory for as long as the contract's bound lets them.
std::optional<Finding> Referee::compare_stored(const Step& step,
                                               std::size_t unit,
                                               const ReferenceCache& reference) const {
  const Event& event = *step.event;
  const bool may_wait =
      spec_.visibility == Visibility::window && spec_.timing != Timing::attend_then_trim;
  const std::size_t cache = unit / per_cache_ % together_;
  const Tokens requested =
      tokens_at(may_wait ? reference.residents(cache) : reference.stored(cache), event.branch);
  const Tokens kept = tokens_of(event.facts.units[unit].stored);
  if (may_wait ? includes(kept, requested) : kept == requested) return std::nullopt;
  return finding_at(step, unit, name_ + " stores " + text_of(requested),
                    "stored are " + text_of(kept));
}

}  // namespace kv::properties
