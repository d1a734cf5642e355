#include <algorithm>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/visibility_detail.h"

namespace kv::properties {
namespace {

std::optional<std::string> never(const Contract&) {
  return std::nullopt;
}

std::optional<std::string> unless_sinks(const Contract& contract) {
  if (contract.sinks == 0) return "no sinks are declared";
  return std::nullopt;
}

Judgement self(const History& history, const Contract&) {
  return each_query(history,
                    [](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                      const Token own = step.event->fed[query];
                      const Tokens seen = visible_to(facts, query);
                      if (contains(seen, own)) return std::nullopt;
                      Finding finding = finding_at(
                          step, unit, query, query_text(*step.event, query) + " sees its own token",
                          "it sees " + text_of(seen));
                      finding.should_see = joined(seen, {own});
                      return finding;
                    });
}

Judgement none_empty(const History& history, const Contract&) {
  return each_query(history,
                    [](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                      for (std::size_t row = 0; row < facts.returned.size(); ++row) {
                        if (sees(facts, query, row)) return std::nullopt;
                      }
                      return finding_at(
                          step, unit, query,
                          query_text(*step.event, query) + " sees at least one row",
                          "it sees none of the " + rows_text(facts.returned.size()) + " returned");
                    });
}

Judgement no_future(const History& history, const Contract&) {
  return each_query(history,
                    [](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                      const std::int32_t now = step.event->fed[query].position;
                      const Tokens seen = visible_to(facts, query);
                      Tokens later;
                      for (const Token& token : seen) {
                        if (token.position > now) later.push_back(token);
                      }
                      if (later.empty()) return std::nullopt;
                      Finding finding = finding_at(step, unit, query,
                                                   query_text(*step.event, query) +
                                                       " sees nothing after " + std::to_string(now),
                                                   "it sees " + text_of(later));
                      finding.should_see = minus(seen, later);
                      return finding;
                    });
}

Judgement from_stored(const History& history, const Contract&) {
  return each_query(history,
                    [](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                      const Tokens before = tokens_of(step.stored_before(unit));
                      const Tokens may = joined(before, chunk_up_to(step, query));
                      const Tokens seen = visible_to(facts, query);
                      const Tokens other = minus(seen, may);
                      if (other.empty()) return std::nullopt;
                      Finding finding = finding_at(
                          step, unit, query,
                          query_text(*step.event, query) + " sees only what was stored (" +
                              text_of(before) + ") and its chunk up to itself",
                          "it sees " + text_of(other) + " too");
                      finding.should_see = common(seen, may);
                      return finding;
                    });
}

Judgement sinks(const History& history, const Contract& contract) {
  return each_query(history,
                    [&](const Step& step, std::size_t unit, const UnitFacts& facts,
                        std::size_t query) -> std::optional<Finding> {
                      const std::int64_t now = step.event->fed[query].position;
                      const Tokens requested = between(
                          step.event->branch, 0, std::min<std::int64_t>(contract.sinks, now + 1));
                      const Tokens seen = visible_to(facts, query);
                      if (includes(seen, requested)) return std::nullopt;
                      Finding finding = finding_at(
                          step, unit, query,
                          query_text(*step.event, query) + " sees the sinks " + text_of(requested),
                          "it does not see " + text_of(minus(requested, seen)) + " of them, but " +
                              text_of(seen));
                      finding.should_see = joined(seen, requested);
                      return finding;
                    });
}

Judgement recent(const History& history, const Contract& contract) {
  return each_query(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts,
          std::size_t query) -> std::optional<Finding> {
        const std::int64_t now = step.event->fed[query].position;
        const auto latest =
            static_cast<std::int64_t>(latest_seen(contract, step.event->fed.size(), query));
        const Tokens requested = between(step.event->branch, now + 1 - latest, now + 1);
        const Tokens seen = visible_to(facts, query);
        if (includes(seen, requested)) return std::nullopt;
        Finding finding = finding_at(step, unit, query,
                                     query_text(*step.event, query) + " sees the latest " +
                                         std::to_string(latest) + ": " + text_of(requested),
                                     "it does not see " + text_of(minus(requested, seen)) +
                                         " of them, but " + text_of(seen));
        finding.should_see = joined(seen, requested);
        return finding;
      });
}

Law self_law() {
  return {.id = "visible.self",
          .sentence = "Every query sees its own token.",
          .why =
              "A token attends to itself under every timing, even where it may be evicted at once "
              "afterwards. A query that has lost its own key answers for a text that ends before "
              "it. It happens when keys are cut to the window before attention and the chunk is "
              "longer than the window: the first queries of the chunk then see only sinks, or "
              "nothing. Only chunks longer than the recent window show it.",
          .seen_in =
              "seed 002, bug 1; mlxcel #679, #412; LLMs-from-scratch #1008; VeloxQuant-MLX "
              "#370",
          .wants = {},
          .must_see = {.eviction = true, .wide_chunk = true},
          .not_applicable = never,
          .check = &self};
}

Law none_empty_law() {
  return {
      .id = "visible.none-empty",
      .sentence = "No query is left without any row to see.",
      .why =
          "The softmax over no rows is a division by zero: the output is NaN and spreads to every "
          "later layer and token. A line of the mask becomes empty when rows are cut before "
          "attention, when a valid test uses wrapped positions, or when the mask is laid over the "
          "wrong columns. One such query is enough to lose the whole sequence.",
      .seen_in = "mlxcel #679, #420; kvpress #264; efficient-transformers #1235",
      .wants = {},
      .must_see = {.eviction = true, .wide_chunk = true},
      .not_applicable = never,
      .check = &none_empty};
}

Law no_future_law() {
  return {.id = "visible.no-future",
          .sentence = "No query sees a token that comes after it.",
          .why =
              "Inside a chunk the keys of later tokens are already there, and only the mask keeps "
              "them from earlier queries. A query that sees them is given the answer that it is to "
              "predict: perplexity falls and the text produced is worse. It breaks when the causal "
              "part of the mask is dropped for chunks with a past, or laid over the wrong columns "
              "after an eviction. Token by token nothing can be seen of it.",
          .seen_in = "streaming-llm's Falcon patch; KVCache-Factory 9f9aa2e; mlxcel #420",
          .wants = {},
          .must_see = {},
          .not_applicable = never,
          .check = &no_future};
}

Law from_stored_law() {
  return {.id = "visible.from-stored",
          .sentence =
              "A query sees what was stored before the call and its chunk up to itself, "
              "nothing else.",
          .why =
              "Rows that attention is given must come from somewhere: from the rows that the cache "
              "said it stored after the call before, or from the tokens of this call. Anything "
              "else is a row that was counted as gone and still is used, padding, another branch's "
              "token or garbage. This holds the told size against what is really used.",
          .seen_in = "mlx-lm #1868; sglang #31501; ik_llama.cpp #2186; H2O flexgen's padding",
          .wants = {},
          .must_see = {},
          .not_applicable = never,
          .check = &from_stored};
}

Law sinks_law() {
  return {
      .id = "visible.sinks",
      .sentence = "Every query sees the declared sinks.",
      .why =
          "The first tokens hold much of the attention of every later query, and a model without "
          "them falls apart. They must be visible to each query, not only be stored: a causal "
          "band laid over physical columns pushes them out of sight within a chunk, one by one, "
          "while they stay in memory. A query among the sinks sees those up to itself.",
      .seen_in =
          "mlx-lm #1914 (RotatingKVCache with keep); Reward-Forcing #5; VeloxQuant-MLX "
          "#84, #90; keys_values #140",
      .wants = {},
      .must_see = {},
      .not_applicable = unless_sinks,
      .check = &sinks};
}

Law recent_law() {
  return {.id = "visible.recent",
          .sentence = "Every query sees the latest tokens that the contract protects.",
          .why =
              "The tokens just before a query matter most to it. With w recent tokens declared it "
              "sees the last w, its own included; under trim-then-attend with causal visibility "
              "those that are left once room was made for the chunk. Windows cut from the wrong "
              "end, front trims computed from allocated sizes, a hole between the window and the "
              "heavy hitters, and pages freed inside the window all break it.",
          .seen_in =
              "Keyformer (hole); mlx-vlm #2031; LLMs-from-scratch #1008; "
              "Reward-Forcing #5; kekzl/imp #967",
          .wants = {},
          .must_see = {},
          .not_applicable = never,
          .check = &recent};
}

}  // namespace

std::vector<Law> visibility_laws() {
  std::vector<Law> laws = {self_law(),        none_empty_law(), no_future_law(),
                           from_stored_law(), sinks_law(),      recent_law()};
  for (const Law& law : semantics_laws()) laws.push_back(law);
  for (const Law& law : choice_laws()) laws.push_back(law);
  return laws;
}

}  // namespace kv::properties
