#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

// Weights are reported as floats: what is meant as zero may come as a rounding of it.
constexpr float no_weight = 1e-6F;

WhyNot unless_causal(const Contract& contract) {
  if (contract.visibility == Visibility::window && contract.budget > 0) {
    return "visibility is window: each query has a past of its own";
  }
  if (contract.masks_evicted) return "masks-instead is declared";
  if (contract.visibility == Visibility::top_pages) return "each query selects a past of its own";
  return {};
}

// What a query must see and may see.
struct Bounds {
  Tokens must;
  Tokens may;
};

// The declared set, where it follows from the sizes alone: the sinks, and all from `oldest` on.
Tokens formula(const QueryView& at) {
  const auto t = static_cast<std::int64_t>(at.step.tokens_before());
  const auto c = static_cast<std::int64_t>(at.event().fed.size());
  const std::int64_t now = t + static_cast<std::int64_t>(at.query);
  const std::int64_t w = at.contract.recent;
  std::int64_t oldest = t - at.contract.recent_stored();  // the window as the call before left it
  if (at.contract.visibility == Visibility::window) {
    oldest = now + 1 - w;
  } else if (at.contract.timing == Timing::trim_then_attend) {
    oldest = std::min(t, t + c - w);  // room was made for the whole chunk
  }
  return joined(at.between_positions(0, std::min<std::int64_t>(at.contract.sinks, now + 1)),
                at.between_positions(oldest, now + 1));
}

// The declarations are asked from the strictest to the most lenient: each excuses more than the one
// before, and the first that holds decides.
Bounds bounds_of(const QueryView& at) {
  const Contract& contract = at.contract;
  const Tokens chunk = at.chunk();
  const Tokens all = joined(at.stored_before(), chunk);
  const bool window = contract.visibility == Visibility::window && contract.budget > 0;
  const bool early = contract.timing == Timing::trim_then_attend && contract.budget > 0;
  const bool lazy = contract.timing == Timing::lazy && !window;
  if (has_no_middle(contract) && !contract.keeps_fewer && !lazy) {
    const Tokens exact = formula(at);
    return {exact, contract.shows_pages ? all : exact};
  }
  if (window) return {{at.own()}, all};
  if (contract.visibility == Visibility::top_pages && all.size() > contract.top_pages.attended) {
    return {{at.own()}, all};  // choice_laws.cpp has the rest
  }
  if (contract.masks_evicted || contract.pinned_first_page || contract.page > 1) {
    return {chunk, all};
  }
  if (!early) return {all, all};
  // Under trim-then-attend the victims left before the query, so what the call kept was visible.
  const Tokens kept = between(at.stored(), 0, at.position() + 1);
  return {joined(common(kept, all), chunk), all};
}

MaybeFinding semantics(const QueryView& at) {
  const Contract& contract = at.contract;
  const Tokens seen = at.visible();
  const Bounds bounds = bounds_of(at);
  if (!includes(seen, bounds.must) || !includes(bounds.may, seen)) {
    const bool exact = bounds.must == bounds.may;
    return at.finding((exact ? "sees " : "sees at least ") + text_of(bounds.must),
                      "it sees " + text_of(seen), joined(bounds.must, common(bounds.may, seen)));
  }
  const std::uint64_t all = std::uint64_t{at.step.tokens_before()} + at.query + 1;
  const std::uint64_t fewest = std::min<std::uint64_t>(contract.budget, all);
  if (contract.visibility == Visibility::causal || contract.keeps_fewer || seen.size() >= fewest) {
    return {};
  }
  return at.finding("sees " + rows_text(fewest) + ", the budget or all there is",
                    "it sees " + std::to_string(seen.size()) + ": " + text_of(seen));
}

MaybeFinding same_past(const QueryView& at) {
  if (at.query == 0) return {};
  const auto begin = static_cast<std::int64_t>(at.step.tokens_before());
  const Tokens first = between(visible_to(at.facts, 0), 0, begin);
  const Tokens seen = at.visible();
  const Tokens past = between(seen, 0, begin);
  if (past == first) return {};
  return at.finding(
      "sees of the tokens before the chunk what its first query sees: " + text_of(first),
      "it sees " + text_of(past) + " of them", joined(first, minus(seen, past)));
}

Judgement never_mixed(const History& history, const Contract& contract) {
  bool reported = false;
  Judgement judgement = each_query(history, contract, [&](const QueryView& at) -> MaybeFinding {
    const std::size_t width = at.facts.returned.size();
    if (at.facts.weights.size() != width * at.event().fed.size() || width == 0) return {};
    reported = true;
    // Negative weights are as wrong as positive ones, so the absolute value is compared.
    for (std::size_t row = 0; row < width; ++row) {
      const float weight = at.facts.weights[at.query * width + row];
      if (sees(at.facts, at.query, row) || std::abs(weight) <= no_weight) continue;
      return at.finding("gives no weight to " + text_of({at.facts.returned[row].value}) +
                            ", which it does not see",
                        "it gives it " + std::to_string(weight));
    }
    return {};
  });
  return unless_silent(std::move(judgement), reported, {"the subject tells no weights", true});
}

constexpr auto table = std::to_array<Law>({
    {.id = "visible.semantics",
     .sentence = "A query sees exactly what the declared timing and visibility say.",
     .why = "When rows leave, relative to attention, decides what a query inside a chunk sees, and "
            "projects differ in it without saying so: a budget of 256 means 256, 257 or 383 "
            "visible rows. Without a middle the set follows from sizes and positions alone and is "
            "compared token for token. With one, a causal query sees all that was stored before "
            "the call (under trim-then-attend: all of it that the call kept) and its chunk up to "
            "itself, and under visibility=window as many rows as the budget.",
     .seen_in = "streaming-llm #48; executorch #21857, #18821; mlx-lm #390; transformers #39408; "
                "mlx-lm #1914; mistral.rs #246",
     .must_see = {.wide_chunk = true},
     .check = per_query<semantics>},
    {.id = "visible.same-past",
     .sentence = "Under causal visibility all queries of a chunk see the same past.",
     .why = "With causal visibility nothing leaves while a chunk is attended to, so what came "
            "before the chunk is the same for each of its queries and only the chunk itself grows. "
            "A past that shrinks from line to line is a window that was not declared; one that "
            "grows is a mask that is shifted by a column for every query. Fed token by token, "
            "nothing can be seen of it.",
     .seen_in = "mlx-lm #1914; LLMs-from-scratch #1008; exllamav3 #378",
     .not_applicable = unless_causal,
     .check = per_query<same_past>},
    {.id = "visible.masked-never-mixed",
     .sentence = "A row that a query does not see gets no weight from it.",
     .why =
         "The mask is a promise and the weights are what happened. Where the subject reports its "
         "attention weights, a row that is reported invisible must have weight zero (up to "
         "rounding), or the reported mask is not the mask that was used: padding that is "
         "attended to, keys overwritten instead of masked, or a mask made before an eviction "
         "and laid over the rows after it. The law is silent where no weights are reported.",
     .seen_in = "VeloxQuant-MLX #370, #610; H2O flexgen's padding; kvpress per-head masking",
     .check = never_mixed},
});

}  // namespace

constinit const Laws semantics_laws = table;

}  // namespace kv::properties
