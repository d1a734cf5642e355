#include "kvcheck/properties/laws/relations/operation_relations.h"

#include <algorithm>

#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/operation_cases.h"

namespace kv::properties {
namespace {

std::vector<Call> joined(std::vector<Call> calls, const std::vector<Call>& more) {
  calls.insert(calls.end(), more.begin(), more.end());
  return calls;
}

Judgement held(std::optional<Finding> found) {
  if (found) return *std::move(found);
  return std::monostate{};
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
  for (std::uint32_t branch = 0; branch < 8; ++branch) {
    const auto found =
        disagreement({*once, 0, branch}, {*again, 0, branch}, compare, "as in the first run");
    if (found) return *found;
  }
  return std::monostate{};
}

Judgement reset_is_fresh(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::reset);
  if (!cut) return untested(cut.error());
  std::vector<Call> calls = cut->head;
  calls.push_back(cut->at);
  const auto used = trial.run(with_calls(trial.what(), joined(calls, cut->tail)));
  if (!used) return untested(used.error());
  if (used->events.size() < cut->tail.size() + 1) return NotTested{"a branch does not exist"};
  const std::size_t after = used->events.size() - cut->tail.size();
  if (used->events[after - 1].refused) return NotTested{"reset is refused", true};
  const auto fresh = trial.run(with_calls(trial.what(), cut->tail));
  if (!fresh) return untested(fresh.error());
  for (std::size_t unit = 0; unit < used->units(); ++unit) {
    const UnitFacts& facts = used->events[after - 1].facts.units.at(unit);
    if (facts.stored.empty() && facts.reported.value_or(0) == 0) continue;
    return Finding{.expected = "after a reset nothing is stored or reported",
                   .seen = "it stores " + words_of(row_tokens(facts.stored)) + " and reports " +
                           std::to_string(facts.reported.value_or(facts.stored.size())) + " rows",
                   .event = after - 1,
                   .unit = unit,
                   .history = *used};
  }
  return held(disagreement({*fresh}, {*used, after}, comparing(contract, trial.family()),
                           "as on a fresh object"));
}

// Both branches go on in turns, each with tokens of its own, and are compared with runs in which
// there is no other.
Judgement forks_apart(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::fork);
  if (!cut) return untested(cut.error());
  std::vector<Call> head;
  for (const Call& call : cut->head) {
    if (call.branch == 0) head.push_back(call);
  }
  std::vector<Call> both = head;
  both.push_back(cut->at);
  std::vector<Call> other;
  for (std::size_t i = 0; i < cut->tail.size(); ++i) {
    Call branched = cut->tail[i];
    branched.variant = 1;
    other.push_back(branched);
    branched.branch = 1;
    // Either may go first.
    both.push_back(i % 2 == 0 ? branched : cut->tail[i]);
    both.push_back(i % 2 == 0 ? cut->tail[i] : branched);
  }
  const auto forked = trial.run(with_calls(trial.what(), both));
  if (!forked) return untested(forked.error());
  if (forked->events.size() != both.size() || forked->events[head.size()].refused) {
    return NotTested{"fork is refused", true};
  }
  const Compare compare = comparing(contract, trial.family());
  const std::size_t at = head.size();
  const auto original = trial.run(with_calls(trial.what(), joined(head, cut->tail)));
  if (!original) return untested(original.error());
  auto found = disagreement({*original, at}, {*forked, at + 1}, compare,
                            "the original, as if it had not been forked");
  if (found) return *found;
  const auto copy = trial.run(with_calls(trial.what(), joined(head, other)));
  if (!copy) return untested(copy.error());
  return held(
      disagreement({*copy, at}, {*forked, at + 1, 1}, compare, "the fork, as its original would"));
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
  const std::string as = "as if nothing had been fed after token " +
                         std::to_string(rollback->length - 1) + " and taken back";
  if (rollback->from > 0) {
    const auto& before = never_fed->events[rollback->from - 1].facts.units;
    const auto& after = taken_back->events[rollback->at].facts.units;
    for (std::size_t unit = 0; unit < std::min(before.size(), after.size()); ++unit) {
      auto found = difference(before[unit], after[unit], 0, compare);
      if (!found) continue;
      Finding finding = finding_at(*found, rollback->at, unit);
      finding.expected = as + ": " + finding.expected;
      finding.history = *taken_back;
      return finding;
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
  std::int64_t fed = 0;
  for (const Call& call : head) fed += call.amount;
  const auto plain = trial.run(with_calls(trial.what(), feeds));
  if (!plain) return untested(plain.error());
  // One below and one above are off by one; the far ones wrap or read past a buffer.
  for (const std::int64_t length : {std::int64_t{-1}, -fed - 1, fed + 1, fed + 1000}) {
    std::vector<Call> calls = head;
    calls.push_back(truncate_to(length));
    const auto history = trial.run(with_calls(trial.what(), joined(calls, tail)));
    if (!history) return untested(history.error());
    if (!history->events[head.size()].refused) {
      return Finding{.expected = "truncating to " + std::to_string(length) +
                                 " is refused: " + std::to_string(fed) + " tokens were fed",
                     .seen = "it is done",
                     .event = head.size(),
                     .history = *history};
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
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2), truncate_to(-1));
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
  const Compare compare = comparing(contract, trial.family());
  for (std::uint32_t branch = 0; branch < 8; ++branch) {
    auto found = disagreement({*without, 0, branch}, {seen, 0, branch}, compare,
                              "as if what was refused had not been asked");
    if (!found) continue;
    // The event in the whole run.
    std::size_t at = 0;
    for (std::size_t left = found->event; at < history->events.size(); ++at) {
      if (!history->events[at].refused && left-- == 0) break;
    }
    found->event = at;
    found->history = *history;
    return *found;
  }
  return std::monostate{};
}

Judgement rollback_is_offered(Trial& trial, const Contract& contract) {
  if (contract.rollback == 0) return NotTested{"no rollback is declared"};
  std::vector<Call> calls = feeds_of(trial.what());
  std::int64_t fed = 0;
  for (const Call& call : calls) fed += call.amount;
  const std::int64_t depth = std::min<std::int64_t>(fed, contract.rollback);
  const std::size_t at = calls.size();
  calls.push_back(truncate_to(fed - depth));
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  if (!history->events[at].refused) return std::monostate{};
  return Finding{.expected = "the last " + std::to_string(depth) + " of " + std::to_string(fed) +
                             " tokens can be taken back: rollback=" +
                             std::to_string(contract.rollback) + " is declared",
                 .seen = "truncate is refused: " + history->events[at].why,
                 .event = at,
                 .history = *history};
}

Judgement snapshot_continues(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::snapshot);
  if (!cut) return untested(cut.error());
  std::vector<Call> head;
  for (const Call& call : cut->head) {
    if (call.branch == 0) head.push_back(call);
  }
  std::vector<Call> calls = head;
  calls.push_back(cut->at);
  const auto restored = trial.run(with_calls(trial.what(), joined(calls, cut->tail)));
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
