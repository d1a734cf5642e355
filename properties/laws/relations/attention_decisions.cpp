// The laws on what attention decides: a favourite is kept, equals are treated alike.
#include <algorithm>
#include <array>

#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

std::uint64_t middle_of(const Contract& contract) {
  const std::uint64_t kept = std::uint64_t{contract.sinks} + contract.recent;
  return contract.budget > kept ? contract.budget - kept : 0;
}

// How many queries a token is sure to have received, its own included, when it is first a
// candidate.
std::uint64_t hearings(const Contract& contract, std::uint64_t widest) {
  if (contract.timing == Timing::trim_then_attend) {
    return contract.recent > widest ? contract.recent - widest + 1 : 1;
  }
  return std::max<std::uint64_t>(1, contract.recent);
}

// Any sensible score, even a plain sum of mass, must keep the favourite if it arrives before this
// position. The others share the mass of the queries before it, one unit of mass each, so fewer of
// them than the middle holds can have collected as much as the favourite gets while it is
// protected. Half of that, for safety.
std::uint64_t latest_arrival(const Contract& contract, std::uint64_t widest) {
  // An ageing policy may keep the younger token with the lower score, so a middle of one may always
  // be the newcomer's.
  if (contract.claims_to_be("ageing") && middle_of(contract) < 2) return 0;
  return middle_of(contract) * hearings(contract, widest) / 2;
}

std::uint64_t widest_of(const std::vector<Call>& feeds) {
  std::int64_t widest = 1;
  for (const Call& call : feeds) widest = std::max(widest, call.amount);
  return static_cast<std::uint64_t>(widest);
}

// Whether the favourite is stored after every call from its arrival on, and every later query of
// its unit sees it.
Judgement watch(Trial& trial, Case what, std::uint64_t arrival) {
  what.stream.kind = StreamKind::hitter;
  what.stream.planted = static_cast<std::uint32_t>(arrival);
  const auto history = trial.run(what);
  if (!history) return untested(history.error());
  const Token favourite{static_cast<std::int32_t>(arrival), 0};
  for (std::size_t i = 0; i < history->events.size(); ++i) {
    const Event& event = history->events[i];
    if (!is_feed(*history, event) || event.branch.size() <= arrival) continue;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      const std::vector<Token> stored = row_tokens(event.facts.units[unit].stored);
      if (std::ranges::count(stored, favourite) != 0) continue;
      return finding_in(*history, i, unit,
                        {phrase("token ", favourite,
                                " is kept: from its arrival on it gets nearly all attention"),
                         phrase("it is evicted after ", event.branch.size() - arrival - 1,
                                " more tokens; stored are ", words_of(stored))});
    }
  }
  return std::monostate{};
}

std::uint64_t slack_of(const Contract& contract) {
  return contract.timing == Timing::lazy ? contract.slack : 0;
}

// The case's chunks, but the favourite as a newcomer to a cache that may already be full.
Judgement try_arrivals(Trial& trial,
                       const Case& what,
                       std::initializer_list<std::uint64_t> arrivals) {
  for (const std::uint64_t arrival : arrivals) {
    Judgement judged = watch(trial, what, arrival);
    if (std::holds_alternative<Finding>(judged)) return judged;
  }
  return std::monostate{};
}

Judgement hitter_survives(Trial& trial, const Contract& contract) {
  const std::uint64_t budget = contract.budget;
  const std::uint64_t latest = latest_arrival(contract, 1);
  if (latest == 0) return NotTested{"no arrival is early enough for plain sums"};
  // The cache is refilled four times after the token came.
  const Case what = evicting(trial.what(), 5 * budget + slack_of(contract) + 8, contract);
  return try_arrivals(trial, what, {std::min(latest, budget) - 1});
}

bool same_kept(const History& a, const History& b) {
  for (std::size_t i = 0; i < std::min(a.events.size(), b.events.size()); ++i) {
    const auto stored = [i](const History& run, std::size_t unit) {
      return row_tokens(run.events[i].facts.units[unit].stored);
    };
    for (std::size_t unit = 0; unit < a.units(); ++unit) {
      if (stored(a, unit) != stored(b, unit)) return false;
    }
  }
  return true;
}

// The run, if streams that favour other tokens leave the same; nothing if one leaves others, or
// no run can be judged. The favourites come while the middle is full but the cache is not.
std::optional<History> unmoved(Trial& trial, Case what, std::uint32_t first) {
  const std::array<Stream, 5> streams = {
      {{.kind = StreamKind::hitter, .planted = first},
       {.kind = StreamKind::hitter, .planted = first + 4},
       {.kind = StreamKind::hitter, .planted = first + 2},
       {.kind = StreamKind::one_hot, .seed = what.stream.seed + 1},
       {.kind = StreamKind::one_hot, .seed = what.stream.seed + 2}}};
  std::optional<History> same;
  for (const Stream& stream : streams) {
    what.stream = stream;
    auto run = trial.run(what);
    if (!run || run->events.empty()) return {};
    if (same && !same_kept(*same, *run)) return {};
    if (!same) same = *std::move(run);
  }
  return same;
}

}  // namespace

// In a middle of eight beside eight recent tokens, where a favourite must win whatever the score
// is. A policy may decide once, after a prompt, or only between calls: so the stream is fed as the
// case cuts it, and token by token.
Judgement attention_decides(Trial& trial, const Contract& /*contract*/) {
  Case given = trial.what();
  if (trial.family().takes_sizes()) {
    given.setup.recent = 8;
    given.setup.budget = given.setup.sinks + 16;
  }
  const auto contract = trial.family().contract(given.setup);
  if (!contract) return untested(contract.error());
  if (middle_of(*contract) < 8 || contract->recent < 6) {
    return NotTested{"the middle is too small, or too few recent tokens are kept", true};
  }
  const std::uint64_t tokens = 4 * std::uint64_t{contract->budget} + slack_of(*contract) + 4;
  const auto first = static_cast<std::uint32_t>(contract->sinks + middle_of(*contract));
  std::optional<History> same;
  for (const Case& what : {with_calls(given, feeds_of(given, tokens, *contract)),
                           evicting(given, tokens, *contract)}) {
    same = unmoved(trial, what, first);
    if (!same) return std::monostate{};
  }
  const std::size_t last = same->events.size() - 1;
  return finding_in(*same, last, 0,
                    {phrase("under 5 streams of attention, some keep other tokens of ", tokens),
                     "all keep the same after every call, in the end " +
                         words_of(row_tokens(same->events[last].facts.units.front().stored))});
}

Judgement newcomer_can_win(Trial& trial, const Contract& contract) {
  const std::uint64_t budget = contract.budget;
  const std::uint64_t tokens = 3 * budget + slack_of(contract) + 4;
  std::vector<Call> feeds = feeds_of(trial.what(), tokens, contract);
  std::uint64_t latest = latest_arrival(contract, widest_of(feeds));
  if (latest == 0 && !contract.claims_to_be("admits-newcomers")) {
    feeds = evicting(trial.what(), tokens, contract).calls;
    latest = latest_arrival(contract, 1);
  }
  // A policy that admits every newcomer considers this one at any time.
  if (contract.claims_to_be("admits-newcomers")) latest = 2 * budget;
  if (latest == 0) return NotTested{"no arrival is early enough for plain sums"};
  latest = std::min(latest, 2 * budget + 1);
  const Case what = with_calls(trial.what(), feeds);
  // One arrival by chance, and the latest at which the token must still win.
  return try_arrivals(trial, what, {trial.what().stream.planted % latest, latest - 1});
}

Judgement decisions_follow_tokens(Trial& trial, const Contract& contract) {
  Judgement survives = hitter_survives(trial, contract);
  if (std::holds_alternative<Finding>(survives)) return survives;
  // An ageing policy keeps tokens for their last use, so a younger one may be kept with less; and
  // what counts as a use may depend on the number of visible rows, sinks included.
  if (contract.claims_to_be("ageing")) return survives;
  for (const auto part : {merit_decides, sinks_weigh_nothing}) {
    Judgement judged = part(trial, contract);
    if (std::holds_alternative<Finding>(judged)) return judged;
  }
  return std::monostate{};
}

Judgement ties_decide_alike(Trial& trial, const Contract& contract) {
  Case what = with_calls(trial.what(), feeds_of(trial.what()));
  what.stream = {.kind = StreamKind::ties};
  const auto history = trial.run(what);
  if (!history) return untested(history.error());
  Case other = what;
  other.stream.seed = what.stream.seed + 1;
  const Compare compare = comparing(contract, trial.family());
  const auto reseeded = trial.run(other);
  if (!reseeded) return untested(reseeded.error());
  const auto found =
      disagreement({*history}, {*reseeded}, compare, "all scores equal, as in the first run");
  if (found) return *found;
  // Units with budgets of their own may have selected among other candidates.
  if (contract.uneven()) return std::monostate{};
  for (std::size_t i = 0; i < history->events.size(); ++i) {
    const std::vector<UnitFacts>& units = history->events[i].facts.units;
    for (std::size_t unit = 1; unit < units.size(); ++unit) {
      if (units[unit].stored.size() != units[0].stored.size()) continue;
      const auto apart = difference(units[0], units[unit], 0, compare);
      if (!apart) continue;
      return finding_in(*history, i, unit, *apart, "all scores equal, as in unit 0");
    }
  }
  return std::monostate{};
}

}  // namespace kv::properties
