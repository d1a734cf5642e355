// What a row inherits of the attention that another row got: nothing.
#include <algorithm>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

constexpr std::uint32_t streams = 8;

// One unit, so that one token is the first to be evicted; a sink, with which it can exchange what
// it got; and a middle in which those that come later meet each other.
Setup alone(Setup setup, const Family& family) {
  if (!family.takes_sizes()) return setup;
  setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
  setup.sinks = std::max(1U, setup.sinks);
  setup.recent = std::max(1U, setup.recent);
  setup.budget = std::max(setup.budget, setup.sinks + setup.recent + 4);
  return setup;
}

// The first tokens of unit 0 that a query does not see, and the event of that query.
struct Departure {
  std::size_t event = 0;
  Tokens gone{};
};

std::optional<Departure> departure_in(const History& history) {
  for (const Step& step : steps_of(history)) {
    if (!is_feed(history, *step.event)) return std::nullopt;  // refused
    Tokens gone = minus(step.event->branch, visible_to(step.event->facts.units.front(), 0));
    if (!gone.empty()) return Departure{step.index, std::move(gone)};
  }
  return std::nullopt;
}

// The first event from `from` on after which the two runs store different tokens in unit 0.
std::optional<std::size_t> parting(const History& a, const History& b, std::size_t from) {
  for (std::size_t i = from; i < std::min(a.events.size(), b.events.size()); ++i) {
    const auto stored = [i](const History& history) {
      return tokens_of(history.events[i].facts.units.front().stored);
    };
    if (stored(a) != stored(b)) return i;
  }
  return std::nullopt;
}

// One stream. Until some token is evicted for the first time, no query pays the first sink
// anything; in a second run the token and the sink exchange what they get. No other token gets
// more or less in one run than in the other. So the token, which had the lowest score already, is
// evicted in both; and whatever comes later decides between tokens that got the same in both.
Judgement exchanged(Trial& trial, const Case& what, std::uint64_t tokens) {
  Case quiet = one_by_one(what.setup, what.stream, tokens);
  quiet.stream.kind = StreamKind::random;
  quiet.stream.planted = 0;
  quiet.stream.until = static_cast<std::int32_t>(tokens);
  const auto probe = trial.run(quiet);
  if (!probe) return untested(probe.error());
  const auto left = departure_in(*probe);
  if (!left || left->event == 0) return NotTested{"no query misses a token"};
  quiet.stream.until = static_cast<std::int32_t>(left->event) - 1;
  const auto first = trial.run(quiet);
  if (!first) return untested(first.error());
  Case loud = quiet;
  loud.stream.planted = static_cast<std::uint32_t>(left->gone.front().position);
  const auto second = trial.run(loud);
  if (!second) return untested(second.error());
  const auto again = departure_in(*first);
  const auto other = departure_in(*second);
  const auto same = [&](const std::optional<Departure>& run) {
    return run && run->event == left->event && run->gone == left->gone;
  };
  if (loud.stream.planted == 0 || !same(again) || !same(other)) {
    return NotTested{"with less attention another token is evicted first"};
  }
  const auto at = parting(*first, *second, left->event - 1);
  if (!at) return {};
  const auto left_in = [&](const History& history) {
    return text_of(tokens_of(history.events[*at].facts.units.front().stored));
  };
  return finding_in(
      *second, *at, 0,
      {phrase("what token ", left->gone.front(), " got before it was evicted at query ",
              left->event, " is nothing to those that come later: left are ", left_in(*first),
              ", as where a sink got it"),
       "left are " + left_in(*second)});
}

}  // namespace

Judgement nothing_is_inherited(Trial& trial, const Contract& /*contract*/) {
  Case what = trial.what();
  what.setup = alone(what.setup, trial.family());
  const auto own = trial.family().contract(what.setup);
  if (!own) return untested(own.error());
  if (own->sinks == 0) return NotTested{"there is no sink to exchange attention with", true};
  if (own->budget < own->sinks + own->recent + 2) return NotTested{"the middle is too small", true};
  const std::uint64_t tokens = 8 * std::uint64_t{own->budget} + own->slack + 16;
  Judgement last = NotTested{"no stream was tried"};
  bool held = false;
  for (std::uint32_t i = 0; i < streams; ++i) {
    Case tried = what;
    tried.stream.seed = what.stream.seed + 104729 * i;  // a prime, apart from the seeds of others
    last = unless_rounding(tried, [&](const Case& one) { return exchanged(trial, one, tokens); });
    if (std::holds_alternative<Finding>(last)) return last;
    held |= std::holds_alternative<std::monostate>(last);
  }
  return held ? Judgement() : last;
}

}  // namespace kv::properties
