#include "kvcheck/properties/laws/relations/relations.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

std::vector<Call> joined(std::vector<Call> calls, const std::vector<Call>& more) {
  calls.insert(calls.end(), more.begin(), more.end());
  return calls;
}

std::vector<Call> with(std::vector<Call> calls, const Call& more) {
  calls.push_back(more);
  return calls;
}

std::vector<Call> on_first_branch(std::vector<Call> calls) {
  std::erase_if(calls, [](const Call& call) { return call.branch != 0; });
  return calls;
}

std::int64_t tokens_of(const std::vector<Call>& feeds) {
  std::int64_t tokens = 0;
  for (const Call& call : feeds) tokens += call.amount;
  return tokens;
}

Call truncate_to(std::int64_t length) {
  return {.kind = Call::Kind::truncate, .amount = length};
}

}  // namespace

Judgement same_twice(Trial& trial, const Contract& contract) {
  const auto once = trial.run(trial.what());
  if (!once) return untested(once.error());
  const auto again = trial.run(trial.what());
  if (!again) return untested(again.error());
  Compare compare = comparing(contract, trial.family());
  // Declared or not, chance and order must repeat themselves under one seed.
  compare.exact = true;
  compare.ordered = true;
  compare.position_slack = 0;
  compare.weight_slack = 0;
  return held(disagreement_of_all(*once, *again, compare, "as in the first run"));
}

Judgement reset_is_fresh(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::reset);
  if (!cut) return untested(cut.error());
  const std::vector<Call> calls = joined(with(cut->head, cut->at), cut->tail);
  const auto used = trial.run(with_calls(trial.what(), calls));
  if (!used) return untested(used.error());
  // A call on a branch that does not exist leaves no event.
  if (used->events.size() < cut->tail.size() + 1) return NotTested{"a branch does not exist"};
  const std::size_t after = used->events.size() - cut->tail.size();
  if (used->events[after - 1].refused) return NotTested{"reset is refused", true};
  const auto fresh = trial.run(with_calls(trial.what(), cut->tail));
  if (!fresh) return untested(fresh.error());
  for (std::size_t unit = 0; unit < used->units(); ++unit) {
    const UnitFacts& facts = used->events[after - 1].facts.units.at(unit);
    if (facts.stored.empty() && facts.reported.value_or(0) == 0) continue;
    return finding_in(*used, after - 1, unit,
                      {"after a reset nothing is stored or reported",
                       phrase("it stores ", words_of(row_tokens(facts.stored)), " and reports ",
                              facts.reported.value_or(facts.stored.size()), " rows")});
  }
  return held(disagreement({*fresh}, {*used, after}, comparing(contract, trial.family()),
                           "as on a fresh object"));
}

namespace {

// What the branches are fed after the fork, each with tokens of its own: the original, its fork
// and, from half of the way on, a fork of the fork.
struct Branched {
  std::vector<Call> all;                   // in turns; either may be fed first
  std::array<std::vector<Call>, 3> alone;  // of each branch, as if there were no other
  std::size_t half = 0;                    // calls of the fork before it is forked
};

Branched branched(const Cut& cut, const std::vector<Call>& head, bool again) {
  Branched out{.all = with(head, cut.at), .alone = {}, .half = cut.tail.size() / 2};
  for (std::size_t i = 0; i < cut.tail.size(); ++i) {
    if (again && i == out.half) {
      out.all.push_back({.kind = Call::Kind::fork, .branch = 1});
      out.alone[1].push_back({.kind = Call::Kind::fork});
    }
    const std::uint32_t first = i % 2 == 0 ? 1 : 0;
    for (const std::uint32_t branch : {first, 1 - first, 2U}) {
      Call call = cut.tail[i];
      call.variant = branch == 2 && i < out.half ? 1 : static_cast<std::int32_t>(branch);
      out.alone[branch].push_back(call);
      call.branch = branch;
      if (branch < 2 || (again && i >= out.half)) out.all.push_back(call);
    }
  }
  return out;
}

// Each branch is compared with a run in which there is no other.
Judgement branches_apart(Trial& trial, const Contract& contract, const Cut& cut, bool again) {
  const std::vector<Call> head = on_first_branch(cut.head);
  const Branched calls = branched(cut, head, again);
  const auto forked = trial.run(with_calls(trial.what(), calls.all));
  if (!forked) return untested(forked.error());
  if (forked->events.size() != calls.all.size() || forked->events[head.size()].refused) {
    return NotTested{"fork is refused", true};
  }
  constexpr std::array<std::string_view, 3> as = {"the original, as if it had not been forked",
                                                  "the fork, as its original would",
                                                  "the fork of a fork, as its original would"};
  for (std::uint32_t branch = 0; branch < (again ? 3 : 2); ++branch) {
    const auto alone = trial.run(with_calls(trial.what(), joined(head, calls.alone[branch])));
    if (!alone) return untested(alone.error());
    const std::size_t from = head.size() + (branch == 2 ? calls.half : 0);
    auto found = disagreement({*alone, from}, {*forked, head.size() + 1, branch},
                              comparing(contract, trial.family()), as[branch]);
    if (found) return *found;
  }
  return std::monostate{};
}

}  // namespace

// A fork that refuses to be forked again is judged by the first fork alone.
Judgement forks_apart(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::fork);
  if (!cut) return untested(cut.error());
  Judgement judged = branches_apart(trial, contract, *cut, true);
  if (!std::holds_alternative<NotTested>(judged)) return judged;
  return branches_apart(trial, contract, *cut, false);
}

Judgement truncate_is_never_fed(Trial& trial, const Contract& contract) {
  const auto rollback = rollback_of(trial.what());
  if (!rollback) return untested(rollback.error());
  const auto taken_back = trial.run(with_calls(trial.what(), rollback->with));
  if (!taken_back) return untested(taken_back.error());
  if (taken_back->events[rollback->at].refused)
    return NotTested{"truncate is refused", contract.rollback == 0};
  const auto never_fed = trial.run(with_calls(trial.what(), rollback->without));
  if (!never_fed) return untested(never_fed.error());
  // First what is stored right after the truncate, then everything from there on: a left-over may
  // show in what is evicted later only.
  const Compare compare = comparing(contract, trial.family());
  const std::string as =
      phrase("as if nothing had been fed after token ", rollback->length - 1, " and taken back");
  if (rollback->from > 0) {
    const auto& before = never_fed->events[rollback->from - 1].facts.units;
    const auto& after = taken_back->events[rollback->at].facts.units;
    for (std::size_t unit = 0; unit < std::min(before.size(), after.size()); ++unit) {
      const auto found = difference(before[unit], after[unit], 0, compare);
      if (found) return finding_in(*taken_back, rollback->at, unit, *found, as);
    }
  }
  return held(
      disagreement({*never_fed, rollback->from}, {*taken_back, rollback->at + 1}, compare, as));
}

Judgement hostile_truncates(Trial& trial, const Contract& contract) {
  const std::vector<Call> feeds = feeds_of(trial.what());
  const auto cut = static_cast<std::ptrdiff_t>((feeds.size() + 1) / 2);
  const std::vector<Call> head(feeds.begin(), feeds.begin() + cut);
  const std::vector<Call> tail(feeds.begin() + cut, feeds.end());
  const std::int64_t fed = tokens_of(head);
  const auto plain = trial.run(with_calls(trial.what(), feeds));
  if (!plain) return untested(plain.error());
  // One below and one above are off by one; the far ones wrap or read past a buffer.
  constexpr std::int64_t word = std::int64_t{1} << 32;  // in 32 bits it is nothing
  for (const std::int64_t length :
       {std::int64_t{-1}, -fed - 1, fed + 1, fed + 1000, fed + word, fed - word}) {
    const std::vector<Call> calls = joined(with(head, truncate_to(length)), tail);
    const auto history = trial.run(with_calls(trial.what(), calls));
    if (!history) return untested(history.error());
    if (!history->events[head.size()].refused) {
      return finding_in(*history, head.size(), 0,
                        {phrase("truncating to ", length, " is refused: ", fed, " tokens were fed"),
                         "it is done"});
    }
    const auto found =
        disagreement({*plain, head.size()}, {*history, head.size() + 1},
                     comparing(contract, trial.family()), "as if truncate had not been called");
    if (found) return *found;
  }
  return std::monostate{};
}

// A hostile truncate, which is refused, is put into the middle of the case, so that there is
// something to judge.
Judgement refusals_change_nothing(Trial& trial, const Contract& contract) {
  std::vector<Call> calls = trial.what().calls;
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2);
  // A cache may take a chunk that it need not take; then it is one more of those that were done.
  const auto hostile = calls.insert(middle, truncate_to(-1));
  if (contract.longest_chunk > 0) calls.insert(hostile, feed_call(contract.longest_chunk + 1));
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  std::vector<Call> done;
  std::vector<Event> kept;
  for (const Event& event : history->events) {
    if (event.refused) continue;
    done.push_back(event.call);
    kept.push_back(event);
  }
  if (kept.size() == history->events.size()) return NotTested{"nothing is refused"};
  const auto without = trial.run(with_calls(trial.what(), done));
  if (!without) return untested(without.error());
  History seen = *history;
  seen.events = kept;
  auto found = disagreement_of_all(*without, seen, comparing(contract, trial.family()),
                                   "as if what was refused had not been asked");
  if (!found) return std::monostate{};
  // The event in the whole run.
  std::size_t at = 0;
  for (std::size_t left = found->event; at < history->events.size(); ++at) {
    if (!history->events[at].refused && left-- == 0) break;
  }
  found->event = at;
  found->history = *history;
  return *found;
}

Judgement rollback_is_offered(Trial& trial, const Contract& contract) {
  if (contract.rollback == 0) return NotTested{"no rollback is declared"};
  const std::vector<Call> feeds = feeds_of(trial.what());
  const std::int64_t fed = tokens_of(feeds);
  // The deepest rollback that was promised, which is the hardest to keep.
  const std::int64_t depth = std::min<std::int64_t>(fed, contract.rollback);
  const auto history = trial.run(with_calls(trial.what(), with(feeds, truncate_to(fed - depth))));
  if (!history) return untested(history.error());
  const Event& truncated = history->events[feeds.size()];
  if (!truncated.refused) return std::monostate{};
  return finding_in(*history, feeds.size(), 0,
                    {phrase("the last ", depth, " of ", fed, " tokens can be taken back: rollback=",
                            contract.rollback, " is declared"),
                     "truncate is refused: " + truncated.why});
}

Judgement snapshot_continues(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::snapshot);
  if (!cut) return untested(cut.error());
  const std::vector<Call> head = on_first_branch(cut->head);
  const std::vector<Call> calls = joined(with(head, cut->at), cut->tail);
  const auto restored = trial.run(with_calls(trial.what(), calls));
  if (!restored) return untested(restored.error());
  if (restored->events.size() <= head.size() || restored->events[head.size()].refused) {
    return NotTested{"snapshot is refused", true};
  }
  const auto plain = trial.run(with_calls(trial.what(), joined(head, cut->tail)));
  if (!plain) return untested(plain.error());
  return held(disagreement({*plain, head.size()}, {*restored, head.size() + 1},
                           comparing(contract, trial.family()), "as if it had not been saved"));
}

}  // namespace kv::properties
