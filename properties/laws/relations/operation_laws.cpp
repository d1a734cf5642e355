#include <array>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

WhyNot no_rollback(const Contract& contract) {
  if (contract.rollback > 0) return {};
  return "no rollback is declared, so truncate may be refused";
}

constexpr auto table = std::to_array<Law>({
    {.id = "operation.determinism",
     .sentence = "The same case, run twice, gives the same facts.",
     .why = "Same seed, same calls, same answer: without that no failure can be repeated and no "
            "result compared. What breaks it is a global generator, memory that was never written, "
            "or an order that depends on addresses.",
     .seen_in = "I10; kvpress RandomPress",
     .must_see = {.eviction = false},
     .check = same_twice},
    {.id = "operation.reset",
     .sentence = "After a reset a second stream gives the same results as on a fresh object.",
     .why = "Servers reuse caches. What is left of the first text, a length, scores, a write "
            "index, a pending shift, changes the second one, usually long after its beginning.",
     .seen_in = "KVCache-Factory (generation state); kvpress #221; streaming-llm (documents); M41",
     .wants = {.resets = true},
     .must_see = {.eviction = false},
     .check = reset_is_fresh},
    {.id = "operation.refusal",
     .sentence = "A refused call changes nothing, then and later.",
     .why = "Refusing is how a cache says what it cannot do, and is always better than doing half. "
            "But its caller goes on as if the call had not been made, so the cache must too.",
     .seen_in = "made; conformance of refusals",
     .wants =
         {.forks = true, .truncates = true, .reorders = true, .shifts = true, .snapshots = true},
     .must_see = {.eviction = false},
     .check = refusals_change_nothing},
    {.id = "operation.truncate",
     .sentence = "Tokens that were taken back leave no trace.",
     .why = "After truncate everything must go on as if the tokens had never been fed: what they "
            "evicted is back, what they scored is forgotten, and none of them is seen again. A "
            "cache that cannot do that refuses, which is always legal beyond its declared "
            "rollback; one that does half of it is wrong. The tokens taken back differ from those "
            "fed later at the same positions, so that a left-over shows.",
     .seen_in = "mlx-vlm #1715, #1748; mlx-lm #1868; rMLX #509; local-inference-lab/vllm #622",
     .wants = {.truncates = true},
     .must_see = {.eviction = false},
     .check = truncate_is_never_fed},
    {.id = "operation.truncate-hostile",
     .sentence = "Truncating to a negative length, or beyond what was fed, is refused.",
     .why = "Lengths come from other code and are wrong at times. Taken at its word, a negative "
            "length moves the write index before the rows, and one too long makes rows visible "
            "that were never written.",
     .seen_in = "mlx-lm #1868; neural-speed (truncation); M45",
     .must_see = {.eviction = false},
     .check = hostile_truncates},
    {.id = "operation.rollback-declared",
     .sentence = "As many tokens as the declared rollback can be taken back.",
     .why = "Refusing is legal, but not below the depth that was promised: a speculative decoder "
            "plans its drafts by it.",
     .seen_in = "transformers #48280, #47447; TensorRT-LLM #2983",
     .wants = {.truncates = true},
     .must_see = {.eviction = false},
     .not_applicable = no_rollback,
     .check = rollback_is_offered},
    {.id = "operation.fork",
     .sentence = "A fork does what its original would, and neither changes the other.",
     .why = "Beams and shared prefixes start as copies. A shallow copy lets one branch write into "
            "the other's rows; a copy into a used slot adds to what was there; a copy without its "
            "scores evicts otherwise than its original.",
     .seen_in = "ollama #6831; mlx-swift-lm #629",
     .wants = {.forks = true},
     .must_see = {.eviction = false},
     .check = forks_apart},
    {.id = "operation.reorder",
     .sentence = "After a reorder, sequence i is what sequence from[i] was.",
     .why = "Beam search exchanges sequences, and copies good ones over bad ones. All that belongs "
            "to a sequence must move: rows of each precision, lengths and scores. What is left "
            "behind answers for another sequence. From then on all sequences are fed attention "
            "that treats them alike, so that each must go on as the one that it became.",
     .seen_in = "transformers #46612, #48700",
     .wants = {.reorders = true, .several_sequences = true},
     .must_see = {.eviction = false},
     .check = reorder_moves_sequences},
    {.id = "operation.reorder-hostile",
     .sentence =
         "A reorder from a sequence that does not exist, or from too few or many, is refused.",
     .why =
         "Beam indices come from a sampler, and are wrong at times: of another batch, or one too "
         "far. Taken at its word, a sequence that does not exist is memory of another owner, and a "
         "list of another length leaves sequences undefined. One sequence for several "
         "targets is how beams are copied and no mistake. The refused call must change nothing.",
     .seen_in = "transformers #46612, #48700; made",
     .wants = {.several_sequences = true},
     .must_see = {.eviction = false},
     .check = hostile_reorders},
    {.id = "operation.snapshot",
     .sentence = "A fresh cache restored from a snapshot goes on as the one it was taken of.",
     .why = "Sessions are saved and resumed. A snapshot that holds the rows but not the scores, "
            "the state of the draws or the position to write at resumes something else.",
     .seen_in = "ollama #14912; made",
     .wants = {.snapshots = true},
     .must_see = {.eviction = false},
     .check = snapshot_continues},
    {.id = "operation.shift",
     .sentence = "A shift moves the positions of the rows behind the sinks, and nothing else.",
     .why = "After a gap was cut out, the rows behind it are rotated back by its length. The key "
            "must move with the position that is noted for it, in every layer, and no row may come "
            "or go. A cache that cannot rotate its keys refuses; one that ignores the call leaves "
            "its caller with false distances.",
     .seen_in = "llama.cpp #3825, #5652, #9383, #12357; M15",
     .wants = {.shifts = true},
     .must_see = {.eviction = false},
     .check = shift_moves_rows},
});

}  // namespace

constinit const Laws operation_laws = table;

}  // namespace kv::properties
