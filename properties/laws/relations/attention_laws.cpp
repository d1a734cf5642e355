#include <array>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

WhyNot not_by_attention(const Contract& contract) {
  if (!contract.wants_attention) return "the subject does not decide by attention";
  if (contract.random) return "random: even a favourite may be drawn for eviction";
  if (contract.page > 1) return "page: a favourite is evicted with its page";
  if (contract.claims_to_be("pooled")) return "pooled: a neighbour may be kept in its place";
  if (contract.budget <= contract.sinks + contract.recent) return "there is no middle to win";
  return {};
}

WhyNot inherits_by_right(const Contract& contract) {
  if (contract.claims_to_be("ageing")) return "ageing: a newcomer begins above what was evicted";
  if (contract.masks_evicted) return "masks-instead: evicted rows remain in their slots";
  if (contract.grows()) return "compress=prompt+grow: nothing is evicted after the prompt";
  return not_by_attention(contract);
}

WhyNot blind_or_random(const Contract& contract) {
  if (!contract.wants_attention) return "the subject does not decide by attention";
  if (contract.random) return "random: chance decides among equals";
  return {};
}

WhyNot attention_is_nothing(const Contract& contract) {
  if (!contract.wants_attention && !contract.claims_to_be("score-driven")) {
    return "the subject neither wants attention nor claims score-driven";
  }
  if (contract.keeps_fewer) return "keeps-fewer: a middle may be too small for what is kept in one";
  if (contract.budget <= contract.sinks + contract.recent) return "there is no middle to win";
  return {};
}

constexpr auto table = std::to_array<Law>({
    {.id = "attention.sums-to-one",
     .sentence = "A query's weights are not negative, sum to 1, and are 0 where it must not look.",
     .why = "Weights are a softmax over what the query sees. A sum below 1 means that mass went to "
            "rows that were cut away afterwards, or to padding; weight on a hidden row means that "
            "the mask was applied too late.",
     .seen_in = "mlxcel #679; H2O (padding in decode); M49",
     .must_see = {.eviction = false},
     .check = sums_to_one},
    {.id = "attention.renormalised",
     .sentence = "A query's weights are the softmax of its logits over the rows that it sees.",
     .why = "What the visible rows get is decided by their logits alone: the same as in a dense "
            "cache, divided by what is left. Weights of another query head, of a row's neighbour "
            "or of the time before an eviction still sum to 1, so they are computed again here.",
     .seen_in = "KVCache-Factory before 9f9aa2e; I17",
     .must_see = {.eviction = false},
     .check = renormalised},
    {.id = "attention.permutation",
     .sentence = "A row's weight does not depend on its slot: rows alike get the same weight.",
     .why = "Attention is a sum over rows: exchanging two of them, key and value together, changes "
            "nothing but rounding. Where rows stand in the stream is in their rotated keys and "
            "nowhere else, so the slot must not matter, or a cache that compacts, wraps round or "
            "orders by score answers differently. The stream's logits are all equal here, so that "
            "every exchange leaves the question as it was, and the weights must be equal too.",
     .seen_in = "I18; mlxcel #679; made",
     .check = alike_weigh_alike},
    {.id = "attention.no-leak",
     .sentence = "What comes later changes nothing for a query.",
     .why = "A query sees the past. The same stream is fed with other tokens from some place on, "
            "inside a chunk too, and all queries before that place must see and weigh exactly what "
            "they did. What leaks here makes perplexity look good and generation bad.",
     .seen_in = "streaming-llm (Falcon patch); KVCache-Factory before 9f9aa2e; M6, M30",
     .must_see = {.eviction = false},
     .check = no_leak},
    {.id = "attention.offset",
     .sentence = "Adding a constant to all logits changes nothing.",
     .why = "A softmax does not notice a constant. A policy that reads raw logits, or sums "
            "exponentials without the largest taken out, does. The constant is one that floating "
            "point adds exactly, so that right subjects do not differ in a single bit.",
     .seen_in = "I39; made",
     .check = offset_is_nothing},
    {.id = "attention.decides",
     .sentence = "Where attention is said to decide, other attention leaves other tokens.",
     .why = "A cache that declares to want attention, or claims score-driven, pays for it: scores "
            "are computed, kept and moved. If its scores never arrive, are zeroed by a cast or "
            "lose to a bias, it is a window that costs more. Five streams that differ in nothing "
            "but attention must not all leave the same tokens after every call.",
     .seen_in = "made, after scores that a fused kernel does not return",
     .not_applicable = attention_is_nothing,
     .check = attention_decides},
    {.id = "attention.newcomer-can-win",
     .sentence = "A token that gets nearly all attention from its arrival on is kept.",
     .why = "Deciding by attention is useful only if a late token can displace an early "
            "one. Scores that start at 0 and are compared at once, a hole between the recent "
            "window and the candidates, or a mask that only ever shrinks, freeze the cache on its "
            "first tokens. The token arrives anywhere that even plain sums must let it win: before "
            "the others can have gathered more than it gets while it is protected.",
     .seen_in = "VeloxQuant-MLX #137, #141; Keyformer (mask code); M11, M27, M28",
     .wants = {.several_heads = true},
     .not_applicable = not_by_attention,
     .check = newcomer_can_win},
    {.id = "attention.stale-scores",
     .sentence = "Decisions follow tokens, not slots: a token with more attention is not evicted "
                 "before one with less.",
     .why =
         "Evicting a row moves the rows behind it, or puts a new one into its slot. Scores that "
         "do not move with the rows then belong to others, and after some evictions the token "
         "that every query attends to is evicted for another's score. It is planted early and "
         "watched "
         "through many refills of the cache. Where every query likes the same tokens, one that "
         "got more from each query than a younger one from any is not evicted before it. And sinks "
         "that get no attention change nothing: the same stream without them, and a budget as "
         "much smaller, leaves the same.",
     .seen_in = "M31; VeloxQuant-MLX #141",
     .must_see = {.wrap = true},
     .not_applicable = not_by_attention,
     .check = decisions_follow_tokens},
    {.id = "attention.inherited",
     .sentence = "A new row inherits nothing of what the row before it in its slot got.",
     .why = "A row that is evicted leaves its slot, and the next one takes it. A list of scores by "
            "slot that is not cleared gives the newcomer what another token got, and then its own "
            "on top: it outlives tokens that got more. Sizes, windows and favourites look right. "
            "Two runs are compared in which no token that is left got more in one than in the "
            "other: what the first token to be evicted got, a sink gets in the second run. All "
            "that is decided later must be the same. Scores that rise with each eviction on "
            "purpose are declared as ageing.",
     .seen_in = "made; after VeloxQuant-MLX #141 (scores of slots)",
     .must_see = {.wrap = true},
     .not_applicable = inherits_by_right,
     .check = nothing_is_inherited},
    {.id = "attention.ties",
     .sentence = "Among equal scores the choice is a fixed rule, the same everywhere.",
     .why = "When all scores are equal, the rule for ties decides everything. It may be any rule, "
            "but not one that depends on the seed, the layer, the head or the order of threads: "
            "all units then see the same scores and must keep the same tokens.",
     .seen_in = "keys_values #140; I38",
     .wants = {.several_layers = true, .several_heads = true},
     .not_applicable = blind_or_random,
     .check = ties_decide_alike},
});

}  // namespace

constinit const Laws attention_laws = table;

}  // namespace kv::properties
