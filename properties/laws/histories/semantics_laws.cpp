#include <algorithm>
#include <cmath>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/visibility_detail.h"

namespace kv::properties {
namespace {

constexpr float no_weight = 1e-6F;

std::optional<std::string> never(const Contract&) {
  return std::nullopt;
}

std::optional<std::string> unless_causal(const Contract& contract) {
  if (contract.visibility == Visibility::window && contract.budget > 0) {
    return "visibility is window: each query has a past of its own";
  }
  if (contract.masks_instead) return "masks-instead is declared";
  if (contract.visibility == Visibility::top_pages) return "each query chooses a past of its own";
  return std::nullopt;
}

// What a query must see and may see.
struct Bounds {
  Tokens must;
  Tokens may;
};

// The declared set, where it follows from the sizes alone.
Tokens formula(const Contract& contract, const Step& step, std::size_t query) {
  const std::span<const Token> branch = step.event->branch;
  const auto t = static_cast<std::int64_t>(step.tokens_before());
  const auto c = static_cast<std::int64_t>(step.event->fed.size());
  const std::int64_t now = t + static_cast<std::int64_t>(query);
  const std::int64_t w = contract.recent;
  std::int64_t oldest = 0;
  if (contract.visibility == Visibility::window) {
    oldest = now + 1 - w;
  } else if (contract.timing == Timing::trim_then_attend) {
    oldest = std::min(t, t + c - w);
  } else {
    oldest = t - w;
  }
  const Tokens sinks = between(branch, 0, std::min<std::int64_t>(contract.sinks, now + 1));
  return joined(sinks, between(branch, oldest, now + 1));
}

Bounds bounds_of(const Contract& contract,
                 const Step& step,
                 std::size_t unit,
                 const UnitFacts& facts,
                 std::size_t query) {
  const Tokens chunk = chunk_up_to(step, query);
  const Tokens before = tokens_of(step.stored_before(unit));
  const Tokens all = joined(before, chunk);
  const bool window = contract.visibility == Visibility::window && contract.budget > 0;
  const bool early = contract.timing == Timing::trim_then_attend && contract.budget > 0;
  const bool lazy = contract.timing == Timing::lazy && !window;
  if (has_no_middle(contract) && !contract.keeps_fewer && !lazy) {
    const Tokens exact = formula(contract, step, query);
    return {exact, contract.page > 1 ? all : exact};
  }
  if (window) return {{step.event->fed[query]}, all};
  if (contract.visibility == Visibility::top_pages && all.size() > contract.top_pages.attended) {
    return {{step.event->fed[query]}, all};  // choice_laws.cpp has the rest
  }
  if (contract.masks_instead || contract.pinned_first_page || contract.page > 1) {
    return {chunk, all};
  }
  if (!early) return {all, all};
  const std::int64_t now = step.event->fed[query].position;
  const Tokens kept = between(tokens_of(facts.stored), 0, now + 1);
  return {joined(common(kept, all), chunk), all};
}

Judgement semantics(const History& history, const Contract& contract) {
  return each_query(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts,
          std::size_t query) -> std::optional<Finding> {
        const Tokens seen = visible_to(facts, query);
        const Bounds bounds = bounds_of(contract, step, unit, facts, query);
        const std::string who = query_text(*step.event, query);
        if (!includes(seen, bounds.must) || !includes(bounds.may, seen)) {
          const bool exact = bounds.must == bounds.may;
          Finding finding = finding_at(
              step, unit, query, who + " sees " + (exact ? "" : "at least ") + text_of(bounds.must),
              "it sees " + text_of(seen));
          finding.should_see = joined(bounds.must, common(bounds.may, seen));
          return finding;
        }
        const std::uint64_t all = std::uint64_t{step.tokens_before()} + query + 1;
        const std::uint64_t fewest = std::min<std::uint64_t>(contract.budget, all);
        if (contract.visibility == Visibility::causal || contract.keeps_fewer ||
            seen.size() >= fewest) {
          return std::nullopt;
        }
        return finding_at(step, unit, query,
                          who + " sees " + rows_text(fewest) + ", the budget or all there is",
                          "it sees " + std::to_string(seen.size()) + ": " + text_of(seen));
      });
}

Judgement same_past(const History& history, const Contract&) {
  return each_query(history,
                    [](const Step& step, std::size_t unit, const UnitFacts& facts,
                       std::size_t query) -> std::optional<Finding> {
                      if (query == 0) return std::nullopt;
                      const auto begin = static_cast<std::int64_t>(step.tokens_before());
                      const Tokens first = between(visible_to(facts, 0), 0, begin);
                      const Tokens seen = visible_to(facts, query);
                      const Tokens past = between(seen, 0, begin);
                      if (past == first) return std::nullopt;
                      Finding finding =
                          finding_at(step, unit, query,
                                     query_text(*step.event, query) +
                                         " sees of the tokens before the chunk what its first "
                                         "query sees: " +
                                         text_of(first),
                                     "it sees " + text_of(past) + " of them");
                      finding.should_see = joined(first, minus(seen, past));
                      return finding;
                    });
}

Judgement never_mixed(const History& history, const Contract&) {
  bool reported = false;
  Judgement judgement = each_query(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts,
          std::size_t query) -> std::optional<Finding> {
        const std::size_t width = facts.returned.size();
        if (facts.weights.size() != width * step.event->fed.size() || width == 0) {
          return std::nullopt;
        }
        reported = true;
        for (std::size_t row = 0; row < width; ++row) {
          const float weight = facts.weights[query * width + row];
          if (sees(facts, query, row) || std::abs(weight) <= no_weight) continue;
          return finding_at(step, unit, query,
                            query_text(*step.event, query) + " gives no weight to " +
                                text_of({facts.returned[row].value}) + ", which it does not see",
                            "it gives it " + std::to_string(weight));
        }
        return std::nullopt;
      });
  if (!reported && std::holds_alternative<std::monostate>(judgement)) {
    return NotTested{"the subject tells no weights", true};
  }
  return judgement;
}

Law semantics_law() {
  return {.id = "visible.semantics",
          .sentence = "A query sees exactly what the declared timing and visibility say.",
          .why =
              "When rows leave, relative to attention, decides what a query inside a chunk sees, "
              "and projects differ in it without saying so: a budget of 256 means 256, 257 or 383 "
              "visible rows. Without a middle the set follows from sizes and positions alone and "
              "is compared token for token. With one, a causal query sees all that was stored "
              "before the call (under trim-then-attend: all of it that the call kept) and its "
              "chunk up to itself, and under visibility=window as many rows as the budget.",
          .seen_in =
              "streaming-llm #48; executorch #21857, #18821; mlx-lm #390; transformers "
              "#39408; mlx-lm #1914; mistral.rs #246",
          .wants = {},
          .must_see = {.eviction = true, .wide_chunk = true},
          .not_applicable = never,
          .check = &semantics};
}

Law same_past_law() {
  return {
      .id = "visible.same-past",
      .sentence = "Under causal visibility all queries of a chunk see the same past.",
      .why =
          "With causal visibility nothing leaves while a chunk is attended to, so what came "
          "before the chunk is the same for each of its queries and only the chunk itself grows. "
          "A past that shrinks from line to line is a window that was not declared; one that "
          "grows is a mask that is shifted by a column for every query. Fed token by token, "
          "nothing can be seen of it.",
      .seen_in = "mlx-lm #1914; LLMs-from-scratch #1008; exllamav3 #378",
      .wants = {},
      .must_see = {},
      .not_applicable = unless_causal,
      .check = &same_past};
}

Law never_mixed_law() {
  return {
      .id = "visible.masked-never-mixed",
      .sentence = "A row that a query does not see gets no weight from it.",
      .why =
          "The mask is a promise and the weights are what happened. Where the subject tells its "
          "attention weights, a row that is told invisible must have weight zero (up to "
          "rounding), or the mask that was told is not the mask that was used: padding that is "
          "attended to, keys overwritten instead of masked, or a mask made before an eviction and "
          "laid over the rows after it. The law is silent where no weights are told.",
      .seen_in = "VeloxQuant-MLX #370, #610; H2O flexgen's padding; kvpress per-head masking",
      .wants = {},
      .must_see = {},
      .not_applicable = never,
      .check = &never_mixed};
}

}  // namespace

std::vector<Law> semantics_laws() {
  return {semantics_law(), same_past_law(), never_mixed_law()};
}

}  // namespace kv::properties
