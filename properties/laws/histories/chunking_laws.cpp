#include <algorithm>
#include <utility>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/partition_detail.h"

namespace kv::properties {
namespace {

bool one_state(const Contract& contract) {
  return contract.claims_to_be("chunk-invariant") || has_no_middle(contract);
}

std::optional<std::string> unless_one_state(const Contract& contract) {
  if (contract.budget == 0) return "no budget is declared: nothing is ever evicted";
  if (!one_state(contract)) return "it does not claim chunk-invariant and has a middle";
  if (contract.timing == Timing::lazy) return "timing is lazy: when a trim comes depends on chunks";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  return std::nullopt;
}

std::optional<std::string> unless_window(const Contract& contract) {
  if (contract.visibility == Visibility::top_pages) return std::nullopt;
  if (contract.budget == 0) return "no budget is declared: nothing is ever evicted";
  if (contract.visibility != Visibility::window) return "visibility is not window";
  if (contract.random && !contract.claims_to_be("chunk-invariant")) {
    return "it is random and does not claim chunk-invariant";
  }
  if (contract.page > 1) return "pages are declared: rows come and go together";
  return std::nullopt;
}

std::optional<std::string> unless_formula(const Contract& contract) {
  if (auto why = unless_one_state(contract)) return why;
  if (contract.visibility == Visibility::window)
    return "visibility is window: see chunking.visible";
  if (contract.timing == Timing::trim_then_attend && !has_no_middle(contract)) {
    return "making room for a whole chunk asks a middle otherwise than token by token";
  }
  if (contract.masks_instead) return "masks-instead is declared";
  if (contract.pinned_first_page) return "what is hidden of the first page stays stored";
  return std::nullopt;
}

// Who is resident: what is stored; or what the last query sees, where hidden rows may wait.
Tokens residents_of(const Contract& contract, const UnitFacts& facts) {
  const bool may_wait =
      contract.timing == Timing::trim_then_attend && contract.visibility == Visibility::window;
  const bool hides = contract.masks_instead || contract.pinned_first_page;
  return may_wait || hides ? visible_to(facts, 0) : tokens_of(facts.stored);
}

// Both runs end with a call of one token, so that what making room leaves is the same.
Judgement state(Trial& trial, const Contract& contract) {
  const Partitions cut = partitions_of(trial.what(), contract);
  if (cut.tokens == 0) return NotTested{"no tokens are fed"};
  const History single = trial.run(one_by_one(cut.setup, cut.stream, cut.tokens + 1));
  for (std::vector<std::uint32_t> chunks : {cut.given, cut.whole}) {
    chunks.push_back(1);
    History chunked = trial.run(feeding(cut.setup, cut.stream, chunks));
    if (!all_done(single) || !all_done(chunked)) return NotTested{"a chunk was refused"};
    const auto steps = steps_of(chunked);
    const Step& last = steps.back();
    const auto& requested = single.events.back().facts.units;
    const auto& units = last.event->facts.units;
    for (std::size_t unit = 0; unit < std::min(units.size(), requested.size()); ++unit) {
      const Tokens alone = residents_of(contract, requested[unit]);
      const Tokens stored = residents_of(contract, units[unit]);
      if (alone == stored) continue;
      Finding finding = finding_at(last, unit,
                                   "after " + std::to_string(cut.tokens + 1) + " tokens fed as " +
                                       chunks_text(chunks) +
                                       " the same is stored as fed one by one: " + text_of(alone),
                                   "stored are " + text_of(stored));
      finding.history = std::move(chunked);
      return finding;
    }
  }
  return {};
}

Judgement visible(Trial& trial, const Contract& contract) {
  const Partitions cut = partitions_of(trial.what(), contract);
  if (cut.tokens == 0) return NotTested{"no tokens are fed"};
  const History single = trial.run(one_by_one(cut.setup, cut.stream, cut.tokens));
  for (const std::vector<std::uint32_t>& chunks : {cut.given, cut.whole}) {
    History chunked = trial.run(feeding(cut.setup, cut.stream, chunks));
    if (!all_done(single) || !all_done(chunked)) return NotTested{"a chunk was refused"};
    Judgement judgement =
        each_query(chunked,
                   [&](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                     const auto& alone = single.events[step.tokens_before() + query].facts.units;
                     if (unit >= alone.size()) return std::nullopt;
                     const Tokens requested = visible_to(alone[unit], 0);
                     const Tokens seen = visible_to(facts, query);
                     if (requested == seen) return std::nullopt;
                     Finding finding =
                         finding_at(step, unit, query,
                                    query_text(*step.event, query) +
                                        " sees what it sees fed one by one: " + text_of(requested),
                                    "it sees " + text_of(seen));
                     finding.should_see = requested;
                     return finding;
                   });
    if (auto* finding = std::get_if<Finding>(&judgement)) {
      finding->history = std::move(chunked);
      return judgement;
    }
  }
  return {};
}

// What a query of a chunk should see, from the rows that the run one by one stored before it.
Tokens from_single(const Contract& contract,
                   const Tokens& stored,
                   const Step& step,
                   std::size_t query) {
  const auto t = static_cast<std::int64_t>(step.tokens_before());
  const auto c = static_cast<std::int64_t>(step.event->fed.size());
  const Tokens chunk = chunk_up_to(step, query);
  if (contract.timing != Timing::trim_then_attend) return joined(stored, chunk);
  const std::int64_t oldest = std::min(t, t + c - std::int64_t{contract.recent});
  return joined(joined(between(stored, 0, contract.sinks), between(stored, oldest, t)), chunk);
}

Judgement timing(Trial& trial, const Contract& contract) {
  const Partitions cut = partitions_of(trial.what(), contract);
  if (cut.tokens == 0) return NotTested{"no tokens are fed"};
  const History single = trial.run(one_by_one(cut.setup, cut.stream, cut.tokens));
  for (const std::vector<std::uint32_t>& chunks : {cut.given, cut.whole}) {
    History chunked = trial.run(feeding(cut.setup, cut.stream, chunks));
    if (!all_done(single) || !all_done(chunked)) return NotTested{"a chunk was refused"};
    Judgement judgement = each_query(
        chunked,
        [&](const Step& step, std::size_t unit, const UnitFacts& facts,
            std::size_t query) -> std::optional<Finding> {
          const std::size_t t = step.tokens_before();
          Tokens stored;
          if (t > 0 && unit < single.events[t - 1].facts.units.size()) {
            stored = tokens_of(single.events[t - 1].facts.units[unit].stored);
          }
          const Tokens requested = from_single(contract, stored, step, query);
          const Tokens seen = visible_to(facts, query);
          if (requested == seen) return std::nullopt;
          Finding finding = finding_at(step, unit, query,
                                       query_text(*step.event, query) +
                                           " sees what stays of the tokens before its chunk when "
                                           "they are fed one by one, and its chunk: " +
                                           text_of(requested),
                                       "it sees " + text_of(seen));
          finding.should_see = requested;
          return finding;
        });
    if (auto* finding = std::get_if<Finding>(&judgement)) {
      finding->history = std::move(chunked);
      return judgement;
    }
  }
  return {};
}

Law state_law() {
  return {.id = "chunking.state",
          .sentence = "Who stays does not depend on how the stream was cut into chunks.",
          .why =
              "With sinks and recent tokens alone, and under any rule that meets tokens one by one "
              "as they leave the window, the residents after n tokens follow from the n tokens. "
              "The same stream is fed one by one, as the case cuts it and as few chunks as can be; "
              "the same rows must be left. Compressing each chunk alone, re-anchoring sinks, and "
              "sampling all that a chunk releases at once depend on the cut, and so would every "
              "measurement.",
          .seen_in =
              "VeloxQuant-MLX #84; seed 000, figures 2 and 3; kvpress #186; transformers "
              "SinkCache",
          .wants = {},
          .must_see = {.eviction = true, .wide_chunk = true},
          .not_applicable = unless_one_state,
          .check = &state};
}

Law visible_law() {
  return {.id = "chunking.visible",
          .sentence = "With a window for each query, what it sees does not depend on chunks.",
          .why =
              "visibility=window promises each query what it would see were the stream fed token "
              "by token. So the cut into chunks may not show: perplexities measured with chunks of "
              "512 then hold for decoding too. Windows that are one row wider in the prompt than "
              "in decoding, bounds computed once per chunk, and keys cut to the window before "
              "attention break it.",
          .seen_in =
              "mlx-lm #390; mistral-inference #60; transformers #39408; executorch #21857; "
              "exllamav3 #378",
          .wants = {},
          .must_see = {.eviction = true, .wide_chunk = true},
          .not_applicable = unless_window,
          .check = &visible};
}

Law timing_law() {
  return {.id = "chunking.timing",
          .sentence = "In a chunk each query sees what the declared timing leaves, and its chunk.",
          .why =
              "Under causal visibility a query inside a chunk sees other rows than fed alone, but "
              "which ones follows from the timing: all that stayed of the tokens before, under "
              "trim-then-attend less the room made for the chunk, and the chunk up to itself. The "
              "run one by one says what stayed, so this relates two runs of the subject and trusts "
              "neither. Trimming after appending but before attention is caught by chunks longer "
              "than the window.",
          .seen_in = "seed 002, bug 1; streaming-llm #48; mlxcel #413; executorch #18821",
          .wants = {},
          .must_see = {.eviction = true, .wide_chunk = true},
          .not_applicable = unless_formula,
          .check = &timing};
}

}  // namespace

std::vector<Law> chunking_laws() {
  std::vector<Law> laws = {state_law(), visible_law(), timing_law()};
  for (const Law& law : call_laws()) laws.push_back(law);
  return laws;
}

}  // namespace kv::properties
