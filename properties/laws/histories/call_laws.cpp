#include <algorithm>
#include <array>
#include <utility>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

bool same_mask(const UnitFacts& a, const UnitFacts& b, std::size_t queries) {
  for (std::size_t query = 0; query < queries; ++query) {
    if (visible_to(a, query) != visible_to(b, query)) return false;
  }
  return true;
}

MaybeFinding changed_by_empty(const Step& step, const Event& plain, std::size_t empty_before) {
  const auto& units = step.event->facts.units;
  for (std::size_t unit = 0; unit < std::min(units.size(), plain.facts.units.size()); ++unit) {
    const Tokens stored = tokens_of(units[unit].stored);
    const Tokens requested = tokens_of(plain.facts.units[unit].stored);
    const std::string where = phrase(" after ", empty_before, " calls without tokens");
    if (stored != requested) {
      return finding_at(step, unit,
                        "stored are " + text_of(requested) + where + ", as without them",
                        "stored are " + text_of(stored));
    }
    if (same_mask(units[unit], plain.facts.units[unit], step.event->fed.size())) continue;
    return finding_at(step, unit, "every query sees what it sees without the empty calls",
                      "some query sees other rows" + where);
  }
  return {};
}

// `what` names a call that must change nothing.
MaybeFinding changed_by(const std::string& what, const Step& step) {
  const auto& units = step.event->facts.units;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const Tokens before = tokens_of(step.stored_before(unit));
    const Tokens after = tokens_of(units[unit].stored);
    if (before == after) continue;
    return finding_at(step, unit, what + " leaves " + text_of(before) + " stored",
                      "stored are " + text_of(after));
  }
  return {};
}

// The same chunks with an empty call before each. Events at even indices are the empty calls.
Judgement empty_call(Trial& trial, const Contract& contract) {
  const Partitions cut = partitions_of(trial.what(), contract);
  std::vector<std::uint32_t> chunks;
  for (const std::uint32_t chunk : cut.given) {
    chunks.push_back(0);
    chunks.push_back(chunk);
  }
  if (chunks.empty()) return NotTested{"no tokens are fed"};
  const auto plain = trial.run(feeding(trial.what().setup, trial.what().stream, cut.given));
  if (!plain) return untested(plain.error());
  auto mixed = trial.run(feeding(trial.what().setup, trial.what().stream, chunks));
  if (!mixed) return untested(mixed.error());
  MaybeFinding finding;
  for (const Step& step : steps_of(*mixed)) {
    if (step.index % 2 == 0) {
      finding = changed_by("a call without tokens", step);
    } else if (!step.event->refused) {
      finding = changed_by_empty(step, plain->events[step.index / 2], step.index / 2 + 1);
    }
    if (finding) return in_run(*mixed, *std::move(finding));
  }
  return {};
}

// A refusal is judged on its own event: what is stored after it, against what was stored before.
Judgement longest(const History& history, const Contract& contract) {
  for (const Step& step : steps_of(history)) {
    const Event& event = *step.event;
    if (!event.refused || event.call.kind != Call::Kind::feed || event.fed.empty()) continue;
    const std::uint32_t most = contract.longest_after(event.branch.size());
    if (most == 0 || event.fed.size() <= most) {
      const std::string limit =
          most == 0 ? "no limit is declared" : phrase("up to ", most, " are declared");
      const std::string when = event.branch.empty() ? " when nothing is stored" : "";
      return finding_at(step, 0,
                        phrase("a chunk of ", event.fed.size(), " tokens is taken: ", limit, when),
                        "it is refused: " + event.why);
    }
    if (auto finding = changed_by("a refused chunk", step)) return *std::move(finding);
  }
  return {};
}

WhyNot unless_prompts(const Contract& contract) {
  if (contract.first_chunk > 0) return {};
  return "first-chunk is not declared";
}

// Three streams, each begun with a prompt: on a fresh cache, after a reset, and after everything
// was taken back. Where the subject refuses to go back, the next prompt is too long by right.
Judgement first(Trial& trial, const Contract& contract) {
  const std::int64_t fed =
      std::max<std::int64_t>(2, static_cast<std::int64_t>(trial.what().tokens()));
  const std::int64_t prompt = std::min<std::int64_t>(fed, contract.first_chunk);
  std::vector<Call> calls;
  for (const std::int32_t variant : {1, 2, 0}) {
    calls.push_back(feed_call(prompt, variant));
    calls.push_back(feed_call(1, variant));
    if (variant == 0) break;
    calls.push_back({.kind = variant == 1 ? Call::Kind::reset : Call::Kind::truncate});
  }
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  return in_run(*history, longest(*history, contract));
}

constexpr auto table = std::to_array<Law>({
    {.id = "chunking.empty-call",
     .sentence = "A call without tokens changes nothing, or is refused.",
     .why = "Empty chunks happen: a prompt that ends at a boundary, a scheduler with nothing to do "
            "for a sequence. Slices like [-0:] then mean everything, tokens are evicted without "
            "need, and "
            "counters of calls advance. The same chunks are fed with and without empty calls "
            "between them; all that is stored and seen must be equal.",
     .seen_in = "transformers SinkCache ([-0:]); sglang #22470; H2O recent=0",
     .check = empty_call},
    {.id = "chunking.longest",
     .sentence = "Chunks are refused only where that is declared, and leave nothing behind.",
     .why = "A ring of R slots with a window of W is right for chunks of at most R - W + 1 tokens. "
            "Refusing longer ones is honest, taking them and losing rows is not; the other laws "
            "see to the second. Here a chunk that the contract allows must be taken, and one that "
            "is refused must leave the cache as it was, with no part of it taken in.",
     .seen_in = "executorch #21941; mlx-lm rotating caches; neural-speed (token by token)",
     .must_see = {.eviction = false},
     .check = longest},
    {.id = "chunking.first",
     .sentence = "A cache that takes a prompt when it is empty takes one whenever it is empty.",
     .why = "Caches that select once, at the end of a prompt, take a long first call and then "
            "short ones. What they call first is often a flag or a counter of calls, which a reset "
            "forgets or which a stream that was taken back to nothing never sees again: the second "
            "conversation is refused, or is fed token by token without a selection. A prompt is "
            "fed to a fresh cache, after a reset, and after everything was taken back.",
     .seen_in = "made, after caches that take a first call for the prompt (VeloxQuant-MLX #84)",
     .must_see = {.eviction = false},
     .not_applicable = unless_prompts,
     .check = first},
});

}  // namespace

constinit const Laws call_laws = table;

}  // namespace kv::properties
