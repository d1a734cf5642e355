#include <array>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

WhyNot unreported(const Contract& contract) {
  if (contract.positions != PositionMode::unreported) return {};
  return "the subject reports no positions";
}

WhyNot never_refilled(const Contract& contract) {
  if (contract.budget == 0) return "no budget is declared: the cache is never refilled";
  return unreported(contract);
}

WhyNot never_moved(const Contract& contract) {
  if (auto not_applicable = unreported(contract)) return not_applicable;
  if (contract.positions != PositionMode::in_cache) return {};
  return "positions=in-cache: positions are derived for each query, nothing is moved";
}

Judgement after_wrap(const History& history, const Contract& contract) {
  return glance_at_all(history, contract, check_distances, [](const Glance& glance) {
    const std::size_t budget = glance.contract.budget;
    return budget > 0 && glance.event.branch.size() >= 2 * budget;
  });
}

constexpr auto table = std::to_array<Law>({
    {.id = "position.distance",
     .sentence = "Attention is computed at the distances that the position mode declares.",
     .why = "With rotary positions a logit depends on the distance between query and key only. "
            "Absolute positions make that the difference of the two places in the stream; in-cache "
            "positions the difference of ranks among the rows that the query sees; shifted ones "
            "leave no gap but for rows that are not trimmed yet. A cache that takes its own length "
            "for the position, counts a chunk twice or wraps its index gives every key a false "
            "distance, and the model answers nonsense only once something was evicted.",
     .seen_in = "VeloxQuant-MLX #171, #175; llama.cpp #3825, #29045; mlx-node #33; M4",
     .not_applicable = unreported,
     .check = per_glance<check_distances>},
    {.id = "position.after-wrap",
     .sentence = "Distances are still right when the cache has been refilled whole.",
     .why = "A ring starts over at slot 0 after a whole budget of tokens. Code that derives "
            "positions from slots, or keeps them modulo the ring's size, is right until then and "
            "wrong for ever after, so distances are judged again once twice the budget was fed.",
     .seen_in = "efficient-transformers #1235; executorch #21941; ollama #14912",
     .must_see = {.wrap = true},
     .not_applicable = never_refilled,
     .check = after_wrap},
    {.id = "position.after-rollback",
     .sentence = "Distances are right for what is fed after tokens were taken back.",
     .why = "Speculative decoding feeds drafts and takes most of them back. A position counter "
            "that does not go back with the rows puts what comes next at a false distance from all "
            "that were kept.",
     .seen_in = "mlx-lm #1868; rMLX #509; llama.cpp #29045",
     .wants = {.truncates = true},
     .must_see = {.eviction = false},
     .not_applicable = unreported,
     .check = positions_after_rollback},
    {.id = "position.query-and-key-alike",
     .sentence = "A query and its own key are rotated for the same position.",
     .why = "A token attends to itself at distance 0. If the query's position comes from another "
            "counter than the key's, all its distances are off by the same amount; inside chunks "
            "that happens easily, because one of the two counters has moved on already.",
     .seen_in = "mlx-node #33; VeloxQuant-MLX #171",
     .must_see = {.eviction = false},
     .not_applicable = unreported,
     .check = per_glance<check_own_key>},
    {.id = "position.monotone",
     .sentence = "Of two visible keys, the later token has the later position.",
     .why = "Whatever the mode, positions follow the stream. Two keys at one position, or in the "
            "wrong order, mean that rows were moved without their positions, or positions without "
            "their rows.",
     .seen_in = "llama.cpp #14189, #12253; kvpress #173",
     .not_applicable = unreported,
     .check = per_glance<check_order>},
    {.id = "position.bounded",
     .sentence = "No position is negative, or beyond what the mode can reach.",
     .why = "In-cache positions end at the number of rows that the query sees, shifted ones at the "
            "rows returned, absolute ones at the tokens fed. Keeping positions small is what makes "
            "a model of limited length go on for ever; one beyond the bound was counted wrongly.",
     .seen_in = "mlx-node #33; llama.cpp #29045; streaming-llm #53, #73",
     .not_applicable = unreported,
     .check = per_glance<check_bounds>},
    {.id = "position.same-for-all-heads-and-layers",
     .sentence = "A token's query stands at one position in all layers and heads.",
     .why = "Positions belong to tokens, not to layers. Where layers keep different numbers of "
            "rows their in-cache positions may differ, but absolute ones never, and not those of "
            "units that see equally many rows.",
     .seen_in = "llama.cpp #12357, #29045; rMLX #509; VeloxQuant-MLX #390",
     .must_see = {.eviction = false},
     .not_applicable = unreported,
     .check = same_everywhere},
    {.id = "position.reset",
     .sentence = "After a reset the first query is at position 0 again.",
     .why = "A reset that drops rows but keeps the counter starts the next text far away from its "
            "own beginning, which a model of limited length does not survive for long.",
     .seen_in = "KVCache-Factory (stale kv_seq_len); kvpress #221; M56",
     .wants = {.resets = true},
     .must_see = {.eviction = false},
     .not_applicable = unreported,
     .check = begins_at_zero},
    {.id = "position.sinks-untouched",
     .sentence = "No shift moves a sink: neither its position nor its key.",
     .why = "Shifting closes the gap behind the sinks by rotating what follows them. The sinks "
            "stand where they stood; a shift that rotates them too adds a rounding each time, and "
            "with a wrong sign or range moves them out of the place that the model expects.",
     .seen_in = "llama.cpp K-shift with a YaRN factor; M14, M15",
     .wants = {.shifts = true},
     .not_applicable = never_moved,
     .check = sinks_untouched},
    {.id = "position.shift-composes",
     .sentence = "Shifting by a and then by b is shifting by a + b.",
     .why = "Rotations add up. A cache that notes a pending shift and applies it later loses one "
            "if the second overwrites the first, or applies one twice.",
     .seen_in = "llama.cpp #3825",
     .wants = {.shifts = true},
     .must_see = {.eviction = false},
     .not_applicable = never_moved,
     .check = shift_composes},
    {.id = "position.norm",
     .sentence = "A rotated key is the exactly rotated key, as far as its precision allows.",
     .why = "Rotation keeps lengths. Keys that are rotated again and again in low precision drift, "
            "and a factor that belongs to the first rotation only, applied by every shift, grows "
            "without bound. What a precision may lose is known per rotation; more is a mistake.",
     .seen_in = "llama.cpp #5652, #9383, K-shift with a YaRN factor; neural-speed; M13, M14, M52",
     .wants = {.shifts = true},
     .not_applicable = never_moved,
     .check = keeps_norm},
});

}  // namespace

constinit const Laws position_laws = table;

}  // namespace kv::properties
