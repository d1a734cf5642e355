#include <algorithm>

#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

using Kept = std::vector<std::vector<Token>>;  // by event

Kept kept_by(const History& history, std::size_t unit) {
  Kept kept;
  for (const Event& event : history.events) {
    if (unit < event.facts.units.size()) kept.push_back(row_tokens(event.facts.units[unit].stored));
  }
  return kept;
}

// A unit that kept what unit 0 kept, in every run, if there is one. Only the first sequence is
// looked at: sequences must do the same alone and in any batch, and so may well draw the same.
std::optional<std::size_t> copycat(const std::vector<History>& runs, const Contract& contract) {
  const History& first = runs.front();
  for (std::size_t unit = 1; unit < first.units(); ++unit) {
    const Place place = first.place_of(unit);
    // Unit 0 is the first head of layer 0.
    const bool same_head = contract.unit == Unit::layer || place.head == 0;
    const bool shares =
        contract.unit == Unit::model || (same_head && first.contract.owner_of(place.layer) == 0);
    if (place.sequence != 0 || shares) continue;
    const bool same = std::ranges::all_of(
        runs, [&](const History& run) { return kept_by(run, 0) == kept_by(run, unit); });
    if (same) return unit;
  }
  return std::nullopt;
}

}  // namespace

// The stream is long and the seeds many enough that a right subject draws the same less than once
// in 1e12 trials, down to one sample among 64 and more.
Judgement seeds_differ(Trial& trial, const Contract& contract) {
  const std::uint32_t kept = contract.sinks + contract.recent;
  if (contract.uneven()) return NotTested{"layers or heads have budgets of their own", true};
  if (contract.budget <= kept) return NotTested{"no row is left to chance: no middle", true};
  const std::uint64_t tokens = 64 + 2 * std::uint64_t{contract.budget};
  Case what = evicting(trial.what(), tokens, contract);
  what.setup.layers = std::max(what.setup.layers, 2U);
  what.setup.sequences = 1;
  // A middle of one leaves nothing to chance where a newcomer is always let in.
  what.setup.budget = std::max(what.setup.budget, kept + 2);
  std::vector<History> runs;
  for (std::uint64_t i = 0; i < 8; ++i) {
    auto run = trial.run(what);
    if (!run) return untested(run.error());
    runs.push_back(*std::move(run));
    what.setup.seed += 1;
  }
  const auto last = runs.front().events.size() - 1;
  const std::string same =
      " keep the same after every call, in the end " + words_of(kept_by(runs.front(), 0).back());
  const auto same_as_first = [&](const History& run) {
    return kept_by(run, 0) == kept_by(runs.front(), 0);
  };
  if (std::ranges::all_of(runs, same_as_first)) {
    return finding_in(runs.front(), last, 0,
                      {phrase("of 8 seeds, some keep other tokens of ", tokens,
                              "; what leaves nothing to chance is not declared random, and a "
                              "policy claims deterministic"),
                       "all" + same});
  }
  const std::optional<std::size_t> unit = copycat(runs, contract);
  if (!unit) return std::monostate{};
  const Place place = runs.front().place_of(*unit);
  return finding_in(
      runs.front(), last, *unit,
      {phrase("layers and heads draw apart: under one of 8 seeds, layer ", place.layer, ", head ",
              place.head, " keeps other tokens than layer 0, head 0"),
       "both" + same});
}

Judgement seeds_agree(Trial& trial, const Contract& contract) {
  const std::uint64_t tokens = 3 * std::uint64_t{contract.budget} + 4;
  Case what = with_calls(trial.what(), feeds_of(trial.what(), tokens, contract));
  auto first = trial.run(what);
  if (!first) return untested(first.error());
  // Chance is not excused here, so the runs must agree token by token.
  const Compare compare{.ordered = !contract.unordered};
  for (std::uint64_t other = 1; other < 4; ++other) {
    what.setup.seed = trial.what().setup.seed + other;
    const auto run = trial.run(what);
    if (!run) return untested(run.error());
    if (auto found = disagreement_of_all(*first, *run, compare, "under every seed")) return *found;
  }
  return std::monostate{};
}

}  // namespace kv::properties
