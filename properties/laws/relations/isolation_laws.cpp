#include <array>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

WhyNot model_shares(const Contract& contract) {
  if (contract.unit != Unit::model) return {};
  return "unit=model: all layers share their residents";
}

WhyNot heads_share(const Contract& contract) {
  if (auto not_applicable = model_shares(contract)) return not_applicable;
  if (contract.unit != Unit::layer) return {};
  return "unit=layer: all heads of a layer share their residents";
}

WhyNot heads_decide_together(const Contract& contract) {
  if (auto not_applicable = heads_share(contract)) return not_applicable;
  if (!contract.shares_budget()) return {};
  return "mean-budget: the heads of a layer share a budget by what they attend to";
}

WhyNot query_heads_apart(const Contract& contract) {
  if (contract.unit != Unit::head) return {};
  return "unit=head: each query head keeps residents of its own";
}

WhyNot nothing_shared(const Contract& contract) {
  if (contract.unit == Unit::layer || contract.unit == Unit::model) return {};
  if (contract.shares_rows()) return {};
  return "no units are declared to share";
}

WhyNot not_random(const Contract& contract) {
  if (!contract.random) return "the subject does not declare random";
  if (contract.wants_attention) return "attention may decide alone, whatever chance adds to it";
  return {};
}

WhyNot chance_allowed(const Contract& contract) {
  if (!contract.random || contract.claims_to_be("deterministic")) return {};
  return "random is declared: other seeds may give other residents";
}

constexpr auto table = std::to_array<Law>({
    {.id = "isolation.layers",
     .sentence = "What one layer attends to changes nothing in another layer.",
     .why = "Each layer has its own cache and its own attention. Scores, lengths or masks taken "
            "from another layer, usually the first, go unseen while all layers do alike, and are "
            "wrong as soon as they do not. The law changes the attention of one layer and expects "
            "all others to do exactly what they did, but for those that read its rows.",
     .seen_in = "VeloxQuant-MLX #390; transformers #35168; TensorRT-LLM #2983; rMLX #509",
     .wants = {.several_layers = true},
     .not_applicable = model_shares,
     .check = layers_apart},
    {.id = "isolation.heads",
     .sentence = "What one kv-head attends to changes nothing in another kv-head.",
     .why = "Unless they declare to share, kv-heads decide by their own attention. Scores that are "
            "summed over all heads, or read with a wrong stride, let one head evict for another.",
     .seen_in = "H2O #32; M32; tt-metal #54742",
     .wants = {.several_heads = true},
     .not_applicable = heads_decide_together,
     .check = heads_apart},
    {.id = "isolation.sequences",
     .sentence = "A sequence does the same alone and in any batch.",
     .why =
         "Sequences of a batch know nothing of each other. Protected rows of the first sequence "
         "applied to all, one threshold for the batch, or padding that is attended to, make a "
         "result depend on what else is served. Each sequence is run alone and compared, and one "
         "sequence's attention is changed while the others are watched.",
     .seen_in = "VeloxQuant-MLX #90; ik_llama.cpp #2171; M32, M49",
     .wants = {.several_sequences = true},
     .check = sequences_apart},
    {.id = "isolation.group",
     .sentence = "Query heads of one group may change places without changing what is kept.",
     .why = "With grouped queries several query heads read one kv-head, and decide together which "
            "rows it keeps. If the first head of the group decides alone, exchanging the heads "
            "changes the residents.",
     .seen_in = "H2O #32; SnapKV #16, #22; HeadKV #3; M50",
     .wants = {.several_heads = true},
     .not_applicable = query_heads_apart,
     .check = group_exchanges},
    {.id = "isolation.sharing",
     .sentence = "Units that are declared to share keep and see the same tokens.",
     .why =
         "Where a layer, or the model, decides once for all its heads, each head must apply "
         "that decision as it was taken. A decision that is computed again by each, or applied "
         "to some only, leaves masks and rows that no longer fit together. So do layers that "
         "attend to the rows of another (rows-from) over a copy of their own, which was made too "
         "early, is trimmed apart, or is not taken back with the rows.",
     .seen_in = "M17, M32; llama.cpp #12357",
     .wants = {.several_layers = true, .several_heads = true},
     .must_see = {.eviction = false},
     .not_applicable = nothing_shared,
     .check = shared_alike},
    {.id = "isolation.objects",
     .sentence = "Two caches that are used in turns do what each does alone.",
     .why = "Servers hold many caches at once. State in globals, in class attributes or in a "
            "shared generator makes one disturb another; tests that use one object at a time never "
            "see it. A second cache is fed another stream between the calls of the first.",
     .seen_in = "kvpress #221; KVCache-Factory (generation state); M41",
     .must_see = {.eviction = false},
     .check = objects_apart},
    {.id = "isolation.seeds",
     .sentence = "Other seeds, other layers and other heads draw otherwise.",
     .why = "A random policy that keeps the same tokens under every seed is not random, and one "
            "that draws the same in all layers and heads forgets the same tokens everywhere, which "
            "is what sampling was to avoid. Whether the draws are independent is measured; here "
            "they only must not be the same throughout a long stream.",
     .seen_in = "kvpress RandomPress; I10, I32",
     .wants = {.several_layers = true, .several_heads = true},
     .not_applicable = not_random,
     .check = seeds_differ},
    {.id = "isolation.certain",
     .sentence = "A cache that is not declared random keeps the same under every seed.",
     .why = "Without random in its contract, or with the claim deterministic, nothing may be left "
            "to chance: not the choice among equals, not a threshold, not a hash. Such chance "
            "makes a result that no one can repeat, and tests that pass by luck. The same calls "
            "are made under four seeds and must leave the same.",
     .seen_in = "made, after generators seeded by the clock",
     .not_applicable = chance_allowed,
     .check = seeds_agree},
});

}  // namespace

constinit const Laws isolation_laws = table;

}  // namespace kv::properties
