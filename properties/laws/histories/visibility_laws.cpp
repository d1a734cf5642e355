#include <algorithm>
#include <array>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

// Every timing appends a token before its own query attends, so nothing excuses a missing own key.
MaybeFinding self(const QueryView& at) {
  const Tokens seen = at.visible();
  if (contains(seen, at.own())) return {};
  return at.finding("sees its own token", "it sees " + text_of(seen), joined(seen, {at.own()}));
}

MaybeFinding none_empty(const QueryView& at) {
  const std::size_t returned = at.facts.returned.size();
  for (std::size_t row = 0; row < returned; ++row) {
    if (sees(at.facts, at.query, row)) return {};
  }
  return at.finding("sees at least one row",
                    "it sees none of the " + rows_text(returned) + " returned");
}

MaybeFinding no_future(const QueryView& at) {
  const Tokens seen = at.visible();
  Tokens later = seen;
  std::erase_if(later, [&](Token token) { return token.position <= at.position(); });
  if (later.empty()) return {};
  return at.finding("sees nothing after " + std::to_string(at.position()),
                    "it sees " + text_of(later), minus(seen, later));
}

// Later tokens of the chunk are the business of visible.no-future, but are no excuse here either.
MaybeFinding from_stored(const QueryView& at) {
  const Tokens before = at.stored_before();
  const Tokens may = joined(before, at.chunk());
  const Tokens seen = at.visible();
  const Tokens other = minus(seen, may);
  if (other.empty()) return {};
  return at.finding(
      "sees only what was stored (" + text_of(before) + ") and its chunk up to itself",
      "it sees " + text_of(other) + " too", common(seen, may));
}

// `expected` are tokens that the query must see; `what` says which they are.
MaybeFinding missing(const QueryView& at, const Tokens& expected, const std::string& what) {
  const Tokens seen = at.visible();
  if (includes(seen, expected)) return {};
  return at.finding(
      "sees the " + what + text_of(expected),
      "it does not see " + text_of(minus(expected, seen)) + " of them, but " + text_of(seen),
      joined(seen, expected));
}

MaybeFinding sinks(const QueryView& at) {
  const std::int64_t end = std::min<std::int64_t>(at.contract.sinks, at.position() + 1);
  return missing(at, at.between_positions(0, end), "sinks ");
}

// latest_seen() is less than the window where room was made for the whole chunk before the query.
MaybeFinding recent(const QueryView& at) {
  const std::int64_t end = at.position() + 1;
  const auto latest =
      static_cast<std::int64_t>(latest_seen(at.contract, at.event().fed.size(), at.query));
  return missing(at, at.between_positions(end - latest, end),
                 "latest " + std::to_string(latest) + ": ");
}

constexpr auto table = std::to_array<Law>({
    {.id = "visible.self",
     .sentence = "Every query sees its own token.",
     .why = "A token attends to itself under every timing, even where it may be evicted at once "
            "afterwards. A query that has lost its own key answers for a text that ends before it. "
            "It happens when keys are cut to the window before attention and the chunk is longer "
            "than the window: the first queries of the chunk then see only sinks, or nothing. Only "
            "chunks longer than the recent window show it.",
     .seen_in = "seed 002, bug 1; mlxcel #679, #412; LLMs-from-scratch #1008; VeloxQuant-MLX #370",
     .must_see = {.wide_chunk = true},
     .check = per_query<self>},
    {.id = "visible.none-empty",
     .sentence = "No query is left without any row to see.",
     .why = "The softmax over no rows is a division by zero: the output is NaN and spreads to "
            "every later layer and token. A line of the mask becomes empty when rows are cut "
            "before attention, when a valid test uses wrapped positions, or when the mask is laid "
            "over the wrong columns. One such query is enough to lose the whole sequence.",
     .seen_in = "mlxcel #679, #420; kvpress #264; efficient-transformers #1235",
     .must_see = {.wide_chunk = true},
     .check = per_query<none_empty>},
    {.id = "visible.no-future",
     .sentence = "No query sees a token that comes after it.",
     .why = "Inside a chunk the keys of later tokens are already there, and only the mask keeps "
            "them from earlier queries. A query that sees them is given the answer that it is to "
            "predict: perplexity falls and the text produced is worse. It breaks when the causal "
            "part of the mask is dropped for chunks with a past, or laid over the wrong columns "
            "after an eviction. Token by token nothing can be seen of it.",
     .seen_in = "streaming-llm's Falcon patch; KVCache-Factory 9f9aa2e; mlxcel #420",
     .check = per_query<no_future>},
    {.id = "visible.from-stored",
     .sentence =
         "A query sees what was stored before the call and its chunk up to itself, nothing else.",
     .why =
         "Rows that attention is given must come from somewhere: from the rows that the cache "
         "said it stored after the call before, or from the tokens of this call. Anything else "
         "is a row that was counted as evicted and still is used, padding, another branch's token "
         "or garbage. This compares the reported size with what is really used.",
     .seen_in = "mlx-lm #1868; sglang #31501; ik_llama.cpp #2186; H2O flexgen's padding",
     .check = per_query<from_stored>},
    {.id = "visible.sinks",
     .sentence = "Every query sees the declared sinks.",
     .why = "The first tokens hold much of the attention of every later query, and a model without "
            "them falls apart. They must be visible to each query, not only be stored: a causal "
            "band laid over physical columns pushes them out of sight within a chunk, one by one, "
            "while they stay in memory. A query among the sinks sees those up to itself.",
     .seen_in = "mlx-lm #1914 (RotatingKVCache with keep); Reward-Forcing #5; VeloxQuant-MLX #84, "
                "#90; keys_values #140",
     .not_applicable = unless_sinks,
     .check = per_query<sinks>},
    {.id = "visible.recent",
     .sentence = "Every query sees the latest tokens that the contract protects.",
     .why = "The tokens just before a query matter most to it. With w recent tokens declared it "
            "sees the last w, its own included; under trim-then-attend with causal visibility "
            "those that are left once room was made for the chunk. Windows cut from the wrong end, "
            "front trims computed from allocated sizes, a hole between the window and the heavy "
            "hitters, and pages freed inside the window all break it.",
     .seen_in = "Keyformer (hole); mlx-vlm #2031; LLMs-from-scratch #1008; Reward-Forcing #5; "
                "kekzl/imp #967",
     .check = per_query<recent>},
});

}  // namespace

constinit const Laws visibility_laws = table;

}  // namespace kv::properties
