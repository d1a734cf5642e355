#include <algorithm>
#include <array>
#include <utility>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

// Either the policy promises it, or sinks and window are the whole budget and leave it no choice.
bool one_state(const Contract& contract) {
  return contract.claims_to_be("chunk-invariant") || has_no_middle(contract);
}

WhyNot unless_one_state(const Contract& contract) {
  if (auto why = unless_bounded(contract)) return why;
  if (auto why = unless_prompt_decides(contract)) return why;
  if (!one_state(contract)) return "it does not claim chunk-invariant and has a middle";
  if (contract.timing == Timing::lazy) return "timing is lazy: when a trim comes depends on chunks";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  return {};
}

WhyNot unless_window(const Contract& contract) {
  // Each query selects pages for itself, so chunks may not show, with a budget or without.
  if (contract.visibility == Visibility::top_pages) return {};
  if (auto why = unless_bounded(contract)) return why;
  if (contract.visibility != Visibility::window) return "visibility is not window";
  if (contract.random && !contract.claims_to_be("chunk-invariant")) {
    return "it is random and does not claim chunk-invariant";
  }
  if (contract.page > 1) return "pages are declared: rows come and go together";
  return {};
}

// What makes the visible set in a chunk follow from the run one by one, or not.
WhyNot unless_formula(const Contract& contract) {
  if (auto why = unless_one_state(contract)) return why;
  if (contract.visibility == Visibility::window)
    return "visibility is window: see chunking.visible";
  if (contract.timing == Timing::trim_then_attend && !has_no_middle(contract)) {
    return "making room for a whole chunk asks a middle otherwise than token by token";
  }
  if (contract.masks_evicted) return "masks-instead is declared";
  if (contract.pinned_first_page) return "what is hidden of the first page remains stored";
  return {};
}

// "3+1+7".
std::string chunks_text(const std::vector<std::uint32_t>& chunks) {
  std::string text;
  for (const std::uint32_t chunk : chunks) {
    text += (text.empty() ? "" : "+") + std::to_string(chunk);
  }
  return text;
}

bool all_done(const History& history) {
  return std::ranges::none_of(history.events, &Event::refused);
}

// The residents: what is stored; or what the last query sees, where hidden rows may wait in memory.
Tokens residents_of(const Contract& contract, const UnitFacts& facts) {
  const bool may_wait =
      contract.timing == Timing::trim_then_attend && contract.visibility == Visibility::window;
  const bool hides = contract.masks_evicted || contract.pinned_first_page;
  // Query 0 is the last one: both runs end with a call of one token.
  return may_wait || hides ? visible_to(facts, 0) : tokens_of(facts.stored);
}

// Feeds the case's tokens one by one, and then as the case cuts them and in as few chunks as can
// be. `ends` more tokens are fed one by one at the end of each run. compare(single, chunked,
// chunks) gives the first finding.
template <typename Compare>
Judgement against_single(Trial& trial,
                         const Contract& contract,
                         std::uint32_t ends,
                         Compare compare) {
  const Partitions cut = partitions_of(trial.what(), contract);
  if (cut.tokens == 0) return NotTested{"no tokens are fed"};
  const auto single =
      trial.run(one_by_one(trial.what().setup, trial.what().stream, cut.tokens + ends));
  if (!single) return untested(single.error());
  for (std::vector<std::uint32_t> chunks : {cut.given, cut.whole}) {
    chunks.insert(chunks.end(), ends, 1);
    auto chunked = trial.run(feeding(trial.what().setup, trial.what().stream, chunks));
    if (!chunked) return untested(chunked.error());
    // Without a refused chunk's tokens the two runs are of different streams.
    if (!all_done(*single) || !all_done(*chunked)) return NotTested{"a chunk was refused"};
    Judgement judgement = compare(*single, *chunked, chunks);
    if (std::holds_alternative<Finding>(judgement)) return in_run(*chunked, std::move(judgement));
  }
  return {};
}

// Both runs end with a call of one token: under trim-then-attend the size of the last chunk decides
// how much room was made.
Judgement state(Trial& trial, const Contract& contract) {
  const auto compare = [&](const History& single, const History& chunked,
                           const std::vector<std::uint32_t>& chunks) -> Judgement {
    const auto steps = steps_of(chunked);
    const auto& alone = single.events.back().facts.units;
    const auto& units = steps.back().event->facts.units;
    for (std::size_t unit = 0; unit < std::min(units.size(), alone.size()); ++unit) {
      const Tokens expected = residents_of(contract, alone[unit]);
      const Tokens stored = residents_of(contract, units[unit]);
      if (expected == stored) continue;
      return finding_at(
          steps.back(), unit,
          phrase("after ", single.events.size(), " tokens fed as ", chunks_text(chunks),
                 " the same is stored as fed one by one: ", text_of(expected)),
          "stored are " + text_of(stored));
    }
    return {};
  };
  return against_single(trial, contract, 1, compare);
}

Judgement visible(Trial& trial, const Contract& contract) {
  const auto compare = [&](const History& single, const History& chunked, const auto&) {
    return each_query(chunked, contract, [&](const QueryView& at) -> MaybeFinding {
      const auto& alone = single.events[at.step.tokens_before() + at.query].facts.units;
      if (at.unit >= alone.size()) return {};
      const Tokens expected = visible_to(alone[at.unit], 0);
      const Tokens seen = at.visible();
      if (expected == seen) return {};
      return at.finding("sees what it sees fed one by one: " + text_of(expected),
                        "it sees " + text_of(seen), expected);
    });
  };
  return against_single(trial, contract, 0, compare);
}

// What a query of a chunk should see, from the rows that the run one by one stored before it.
Tokens from_single(const QueryView& at, const Tokens& stored) {
  const auto t = static_cast<std::int64_t>(at.step.tokens_before());
  const auto c = static_cast<std::int64_t>(at.event().fed.size());
  if (at.contract.timing != Timing::trim_then_attend) return joined(stored, at.chunk());
  const std::int64_t oldest = std::min(t, t + c - std::int64_t{at.contract.recent});
  return joined(joined(between(stored, 0, at.contract.sinks), between(stored, oldest, t)),
                at.chunk());
}

Judgement timing(Trial& trial, const Contract& contract) {
  const auto compare = [&](const History& single, const History& chunked, const auto&) {
    return each_query(chunked, contract, [&](const QueryView& at) -> MaybeFinding {
      const std::size_t t = at.step.tokens_before();
      Tokens stored;
      if (t > 0 && at.unit < single.events[t - 1].facts.units.size()) {
        stored = tokens_of(single.events[t - 1].facts.units[at.unit].stored);
      }
      const Tokens expected = from_single(at, stored);
      const Tokens seen = at.visible();
      if (expected == seen) return {};
      return at.finding(
          "sees what is kept of the tokens before its chunk when they are fed one by "
          "one, and its chunk: " +
              text_of(expected),
          "it sees " + text_of(seen), expected);
    });
  };
  return against_single(trial, contract, 0, compare);
}

constexpr auto table = std::to_array<Law>({
    {.id = "chunking.state",
     .sentence = "Which tokens are kept does not depend on how the stream was cut into chunks.",
     .why =
         "With sinks and recent tokens alone, and under any rule that meets tokens one by one as "
         "they leave the window, the residents after n tokens follow from the n tokens. The same "
         "stream is fed one by one, as the case cuts it and as few chunks as can be; the same rows "
         "must be left. Compressing each chunk alone, re-anchoring sinks, and sampling all that a "
         "chunk releases at once depend on the cut, and so would every measurement.",
     .seen_in =
         "VeloxQuant-MLX #84; seed 000, figures 2 and 3; kvpress #186; transformers SinkCache",
     .must_see = {.wide_chunk = true},
     .not_applicable = unless_one_state,
     .check = state},
    {.id = "chunking.visible",
     .sentence = "With a window for each query, what it sees does not depend on chunks.",
     .why = "visibility=window promises each query what it would see were the stream fed token by "
            "token. So the cut into chunks may not show: perplexities measured with chunks of 512 "
            "then hold for decoding too. Windows that are one row wider in the prompt than in "
            "decoding, bounds computed once per chunk, and keys cut to the window before attention "
            "break it.",
     .seen_in = "mlx-lm #390; mistral-inference #60; transformers #39408; executorch #21857; "
                "exllamav3 #378",
     .must_see = {.wide_chunk = true},
     .not_applicable = unless_window,
     .check = visible},
    {.id = "chunking.timing",
     .sentence = "In a chunk each query sees what the declared timing leaves, and its chunk.",
     .why = "Under causal visibility a query inside a chunk sees other rows than fed alone, but "
            "which ones follows from the timing: all tokens kept from before, under "
            "trim-then-attend less the room made for the chunk, and the chunk up to itself. The "
            "run one by one says what is kept, so this relates two runs of the subject and trusts "
            "neither. Trimming after appending but before attention is caught by chunks longer "
            "than the window.",
     .seen_in = "seed 002, bug 1; streaming-llm #48; mlxcel #413; executorch #18821",
     .must_see = {.wide_chunk = true},
     .not_applicable = unless_formula,
     .check = timing},
});

}  // namespace

constinit const Laws chunking_laws = table;

}  // namespace kv::properties
