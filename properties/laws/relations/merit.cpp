// Decisions follow tokens: two relations that show a score which is stored in another token's slot.
#include <algorithm>
#include <map>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

// The attention that a token got from each query, from its own on, and the number of decisions in
// which it was a candidate and was kept.
struct Record {
  std::vector<float> got;
  double sum = 0;
  std::size_t decisions = 0;

  [[nodiscard]] double mean() const { return sum / static_cast<double>(got.size()); }
};

// The records of one unit's tokens.
class Records {
 public:
  Records(const History& history, std::size_t unit)
      : history_(history), contract_(history.contract), unit_(unit) {}

  // Judges a call of one token. It is broken if a token is evicted although it got more attention
  // than a younger one that is kept: more from each query that both received, and no less over its
  // whole life and over any first part of it. Any sensible score (a sum, a mean, the last query,
  // the largest) then ranks the evicted one higher, whether or not it counts this call's own query.
  std::optional<Finding> take(const Step& step) {
    const UnitFacts& facts = step.event->facts.units[unit_];
    const Token query = step.event->fed.front();
    const Tokens seen = visible_to(facts, 0);
    const Tokens here = common(tokens_of(facts.stored), seen);
    const Tokens gone = minus(joined(alive_, {query}), here);
    alive_ = here;
    std::vector<Pair> unearned = pairs(step, gone, here);
    note(seen, query);
    std::erase_if(unearned, [&](const Pair& pair) { return !outdoes(pair.first, pair.second); });
    if (!unearned.empty()) return accuse(step, unearned.front(), here);
    // If no token was evicted, none was preferred to another.
    for (const Token token : here) {
      if (!gone.empty() && may_go(step, token)) ++records_[token].decisions;
    }
    return std::nullopt;
  }

 private:
  void note(const Tokens& seen, Token query) {
    const Place place = history_.place_of(unit_);
    const std::uint32_t group = contract_.unit == Unit::head ? 1 : history_.what.setup.group;
    std::vector<float> mass(seen.size());
    std::vector<float> mean(seen.size());
    for (std::uint32_t head = 0; head < group; ++head) {
      visible_mass(history_.what.stream, {place.sequence, place.layer, place.head * group + head},
                   query, seen, mass);
      for (std::size_t i = 0; i < seen.size(); ++i) mean[i] += mass[i] / static_cast<float>(group);
    }
    for (std::size_t i = 0; i < seen.size() && seen[i] <= query; ++i) {
      Record& record = records_[seen[i]];
      record.got.resize(static_cast<std::size_t>(query.position - seen[i].position) + 1);
      record.got.back() = mean[i];
      record.sum += static_cast<double>(mean[i]);
    }
  }

  // Whether the token was a candidate in a decision of this call and in one before it.
  [[nodiscard]] bool may_go(const Step& step, Token token) const {
    const auto end = static_cast<std::int64_t>(step.event->branch.size());
    const auto chunk = static_cast<std::int64_t>(step.event->fed.size());
    return token.position >= static_cast<std::int32_t>(contract_.sinks) &&
           token.position + std::int64_t{contract_.recent} + chunk < end;
  }

  // What the token or one of its near neighbours got from the query: policies may smooth scores
  // over neighbours, which is no fault.
  [[nodiscard]] float near(Token token, std::int32_t query) const {
    constexpr std::int32_t reach = 3;
    float most = 0;
    for (std::int32_t by = -reach; by <= reach; ++by) {
      const auto found = records_.find({token.position + by, token.variant});
      const std::int32_t at = query - token.position - by;
      if (found == records_.end() || at < 0) continue;
      const std::vector<float>& got = found->second.got;
      if (static_cast<std::size_t>(at) < got.size()) {
        most = std::max(most, got[static_cast<std::size_t>(at)]);
      }
    }
    return most;
  }

  [[nodiscard]] bool outdoes(Token better, Token other) const {
    constexpr float margin = 1.05F;  // far above what another order of sums can change
    const auto mine = records_.find(better);
    const auto theirs = records_.find(other);
    // A token that no query saw has no record to compare.
    if (mine == records_.end() || theirs == records_.end()) return false;
    const std::vector<float>& got = mine->second.got;
    const auto apart = static_cast<std::size_t>(other.position - better.position);
    if (mine->second.mean() < static_cast<double>(margin) * theirs->second.mean()) return false;
    double first = 0;  // what the better one got from as many queries, counted from its own
    double begun = 0;
    for (std::size_t i = 0; i < theirs->second.got.size(); ++i) {
      const float most = near(other, other.position + static_cast<std::int32_t>(i));
      if (i + apart < got.size() && got[i + apart] < margin * most) return false;
      if (i >= got.size()) return false;
      first += static_cast<double>(got[i]);
      begun += static_cast<double>(most);
      if (first < begun) return false;
    }
    return true;
  }

  // The evicted token, and a kept one that got less.
  using Pair = std::pair<Token, Token>;

  std::vector<Pair> pairs(const Step& step, const Tokens& gone, const Tokens& here) {
    std::vector<Pair> found;
    for (const Token loser : gone) {
      for (const Token winner : here) {
        if (winner <= loser || !may_go(step, winner) || records_[winner].decisions == 0) continue;
        if (outdoes(loser, winner)) found.emplace_back(loser, winner);
      }
    }
    return found;
  }

  Finding accuse(const Step& step, const Pair& pair, const Tokens& here) {
    const auto mean = [&](Token token) {
      return phrase(token, " got ", records_[token].mean(), " of a query in the mean");
    };
    return finding_at(step, unit_,
                      phrase("token ", pair.first, " outlives the younger ", pair.second,
                             ": each query that saw both gave it more, and so did all of its life"),
                      phrase(mean(pair.first), " and is evicted, ", mean(pair.second),
                             " and is kept; left are ", text_of(here)));
  }

  const History& history_;
  const Contract& contract_;
  std::size_t unit_;
  Tokens alive_;
  std::map<Token, Record> records_;
};

// Units that share residents decide by the mean over heads, which Records does not know: so one
// head.
Case unshared(const Case& what, const Contract& contract) {
  Case result = what;
  if (contract.unit == Unit::layer || contract.unit == Unit::model) result.setup.kv_heads = 1;
  if (contract.unit == Unit::model) result.setup.layers = 1;
  return result;
}

// What is stored behind the first `sinks` tokens, counted from there.
Tokens behind(const std::vector<Row>& stored, std::uint32_t sinks) {
  Tokens tokens = between(tokens_of(stored), sinks, std::int64_t{1} << 30);
  for (Token& token : tokens) token.position -= static_cast<std::int32_t>(sinks);
  return tokens;
}

// A middle of few tokens hardly ever holds a pair that differs clearly, so every other case has a
// larger one.
std::vector<Case> cases_of_merit(const Trial& trial, const Contract& contract) {
  Case what = unshared(trial.what(), contract);
  what.stream.kind = StreamKind::fixed;
  const std::uint64_t tokens = 8 * std::uint64_t{contract.budget} + contract.slack + 64;
  std::vector<Case> cases;
  Setup roomy = what.setup;
  roomy.budget += trial.family().takes_sizes() && roomy.budget < 32 ? 12U : 0U;
  for (std::uint32_t more = 0; more < 6; ++more) {
    const bool room = more % 2 == 0 && trial.family().contract(roomy);
    cases.push_back(one_by_one(room ? roomy : what.setup, what.stream, tokens + (room ? 64 : 0)));
    cases.back().stream.seed += more;
  }
  return cases;
}

}  // namespace

Judgement merit_decides(Trial& trial, const Contract& contract) {
  if (contract.grows()) return std::monostate{};  // it decides once, so nothing can be compared
  for (const Case& tried : cases_of_merit(trial, contract)) {
    const auto history = trial.run(tried);
    if (!history) return untested(history.error());
    // A layer that reads another's rows keeps what that one's queries decided.
    std::vector<Records> units;
    for (std::size_t unit = 0; unit < history->units(); ++unit) {
      if (contract.owns_rows(history->place_of(unit).layer)) units.emplace_back(*history, unit);
    }
    for (const Step& step : steps_of(*history)) {
      if (!is_feed(*history, *step.event)) continue;
      for (Records& unit : units) {
        auto finding = unit.take(step);
        if (finding) return in_run(*history, *std::move(finding));
      }
    }
  }
  return std::monostate{};
}

// Compares a run whose sinks get no attention with a run without sinks and a budget smaller by
// their number. All other tokens give and receive the same attention in both, so the same must be
// kept.
Judgement sinks_weigh_nothing(Trial& trial, const Contract& contract) {
  Setup with = trial.what().setup;
  if (contract.compress != Compress::always) return std::monostate{};  // the runs' prompts differ
  if (contract.sinks == 0 || with.sinks != contract.sinks || contract.timing == Timing::lazy) {
    return std::monostate{};
  }
  if (contract.budget <= contract.sinks || with.budget != contract.budget) return std::monostate{};
  Setup without = with;
  without.sinks = 0;
  without.budget -= with.sinks;
  const auto bare = trial.family().contract(without);
  if (!bare || bare->sinks != 0 || bare->budget != without.budget ||
      bare->recent != contract.recent) {
    return std::monostate{};
  }
  const std::vector<Call> feeds =
      feeds_of(trial.what(), 4 * std::uint64_t{contract.budget}, contract);
  Stream stream = trial.what().stream;
  stream.kind = StreamKind::behind;
  stream.planted = 0;
  const auto plain = trial.run({without, stream, feeds});
  if (!plain) return untested(plain.error());
  stream.planted = contract.sinks;
  std::vector<Call> calls(contract.sinks, feed_call(1));
  calls.insert(calls.end(), feeds.begin(), feeds.end());
  const auto seen = trial.run({with, stream, calls});
  if (!seen) return untested(seen.error());
  for (std::size_t i = 0; i < plain->events.size(); ++i) {
    const std::size_t at = i + contract.sinks;
    if (at >= seen->events.size() || plain->events[i].refused || seen->events[at].refused) break;
    for (std::size_t unit = 0; unit < std::min(plain->units(), seen->units()); ++unit) {
      const Tokens requested = tokens_of(plain->events[i].facts.units[unit].stored);
      const Tokens kept = behind(seen->events[at].facts.units[unit].stored, contract.sinks);
      if (requested == kept) continue;
      return finding_in(*seen, at, unit,
                        {phrase("counted from behind the ", contract.sinks,
                                " sinks, which get no attention, it stores what it stores of the "
                                "same stream without them: ",
                                text_of(requested)),
                         "it stores " + text_of(kept)});
    }
  }
  return std::monostate{};
}

}  // namespace kv::properties
