#include <algorithm>
#include <array>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/unwritten.h"

namespace kv::properties {
namespace {

WhyNot unless_latest_is_kept(const Contract& contract) {
  if (contract.recent == 0 && contract.may_evict_newest) {
    return "self-may-go is declared and no recent tokens are";
  }
  return {};
}

WhyNot unless_ordered(const Contract& contract) {
  if (contract.unordered) return "unordered is declared: slots need not stand in stream order";
  return {};
}

// The rows that are stored, or those that some query of the call sees.
struct RowsView : UnitView {
  std::span<const Row> rows;
  bool stored_rows;

  [[nodiscard]] std::string where() const {
    return stored_rows ? "a stored row" : "a row that attention sees";
  }
};

// What attention saw is judged first: a wrong row there is the cause, one left in storage the
// effect.
template <MaybeFinding (*judge)(const RowsView&)>
MaybeFinding both(const UnitView& at) {
  if (at.step.fed()) {
    const std::vector<Row> seen = seen_rows(at.facts, at.event().fed.size());
    if (auto finding = judge({at, seen, false})) return finding;
  }
  return judge({at, at.facts.stored, true});
}

MaybeFinding fed(const RowsView& at) {
  Tokens branch = at.branch();
  std::ranges::sort(branch);
  for (std::size_t slot = 0; slot < at.rows.size(); ++slot) {
    const Token token = at.rows[slot].value;
    if (contains(branch, token)) continue;
    return at.finding(at.where() + " holds one of the tokens of its branch, " + text_of(branch),
                      "slot " + std::to_string(slot) + " holds " +
                          (token.position < 0 ? "no token" : text_of({token})) +
                          (at.stored_rows ? unwritten_hint(at.rows) : ""));
  }
  return {};
}

MaybeFinding unique(const RowsView& at) {
  const Tokens tokens = tokens_of(at.rows);
  const auto twin = std::ranges::adjacent_find(tokens);
  if (twin == tokens.end()) return {};
  return at.finding("no token is in " + at.where() + " twice",
                    text_of({*twin}) + " is there " +
                        std::to_string(std::ranges::count(tokens, *twin)) + " times, among " +
                        text_of(tokens));
}

// Equal positions pass: twins are the business of rows.unique.
MaybeFinding order(const RowsView& at) {
  for (std::size_t slot = 1; slot < at.rows.size(); ++slot) {
    const Token before = at.rows[slot - 1].value;
    const Token token = at.rows[slot].value;
    if (before.position <= token.position) continue;
    return at.finding(
        std::string(at.stored_rows ? "stored" : "returned") + " rows stand in stream order",
        text_of({token}) + " stands behind " + text_of({before}));
  }
  return {};
}

// What of `expected` is not stored.
MaybeFinding missing(const UnitView& at, const Tokens& expected, const std::string& what) {
  const Tokens stored = at.stored();
  if (includes(stored, expected)) return {};
  return at.finding(what + " " + text_of(expected) + " are stored" + at.after_text(),
                    text_of(minus(expected, stored)) + " is not; stored are " + text_of(stored));
}

MaybeFinding sinks(const UnitView& at) {
  return missing(at, between(at.branch(), 0, at.contract.sinks), "the sinks");
}

// With self-may-go declared and no window, even the newest may be evicted by its own call.
MaybeFinding recent(const UnitView& at) {
  // Of a window of one row nothing is left between calls if the next token's place is made ahead.
  const bool none = at.contract.may_evict_newest || at.contract.evicts_ahead;
  const std::uint32_t latest = std::max(at.contract.recent_stored(), none ? 0U : 1U);
  const auto end = static_cast<std::int64_t>(at.branch().size());
  return missing(at, between(at.branch(), end - latest, end),
                 "the latest " + std::to_string(latest) + " tokens");
}

// Calls that go back in the stream may bring tokens back, so only feeds are judged.
MaybeFinding survivors(const UnitView& at) {
  if (!at.step.fed()) return {};
  Tokens chunk = at.event().fed;
  std::ranges::sort(chunk);
  const Tokens before = at.stored_before();
  const Tokens other = minus(at.stored(), joined(before, chunk));
  if (other.empty()) return {};
  return at.finding("what is stored after a call was stored before it (" + text_of(before) +
                        ") or came with it (" + text_of(chunk) + ")",
                    text_of(other) + " is stored too");
}

constexpr auto table = std::to_array<Law>({
    {.id = "rows.fed",
     .sentence = "Every row holds a token that its branch was fed, and nothing else.",
     .why = "Rows that hold no token of the branch are padding, memory that was never written, or "
            "the leavings of a stream that was reset, a branch that was left or tokens that were "
            "taken back. Stored, they take the place of real tokens; seen, they are mixed into the "
            "output. Returned rows that the mask hides from every query are allowed.",
     .seen_in = "tt-metal #49614; mlx-lm #1868; vllm #622; KVCache-Factory (state kept)",
     .must_see = {.eviction = false},
     .check = per_unit<both<fed>>},
    {.id = "rows.unique",
     .sentence = "No token is held twice.",
     .why = "A token that is stored or seen twice gets nearly twice the attention that is due to "
            "it and takes the place of another. Overlapping sinks and windows, slices whose bounds "
            "cross, and buffers that are copied onto themselves make twins. Sizes and counts look "
            "right all the while.",
     .seen_in = "seed 000, figure 3; streaming-llm slices; ollama #6831, #14912",
     .check = per_unit<both<unique>>},
    {.id = "rows.order",
     .sentence = "Slots stand in stream order, unless the subject declares otherwise.",
     .why =
         "Code that reads a slot's index as its age, and masks that are causal by column, are "
         "right only for rows in the order of the stream. Survivors left in the order of their "
         "scores do no harm to attention itself, but the next compression then protects whatever "
         "stands in the first slots. Rings and score order are legal when declared as unordered.",
     .seen_in = "kvpress #173; SnapKV #16; ollama #14912",
     .not_applicable = unless_ordered,
     .check = per_unit<both<order>>},
    {.id = "resident.sinks",
     .sentence = "The first tokens stay stored for ever, as many as are declared.",
     .why = "Sinks are the first tokens of the stream, not of the latest chunk and not whatever "
            "stands in the first slots. Once one is evicted it can never come back, and a model "
            "that leans on it falls apart. Caches that anchor them anew with each chunk, that use "
            "another sequence's, or that evict from page 0 lose them.",
     .seen_in = "VeloxQuant-MLX #84, #90; keys_values #140; kvpress #173; Reward-Forcing #5",
     .not_applicable = unless_sinks,
     .check = per_unit<sinks>},
    {.id = "resident.recent",
     .sentence = "The latest tokens stay stored, as many as are declared, the newest always.",
     .why = "The recent window is protected from every decision, and the newest token must live to "
            "be seen by the next one. Evicting the lowest score of all rows evicts the newcomer, "
            "whose score is still zero, and the cache freezes on its prompt. Evicting from the "
            "wrong end, or one slot too many, loses recent tokens as well. A policy under which "
            "the newest may be evicted at once declares self-may-go.",
     .seen_in = "VeloxQuant-MLX #137; Reward-Forcing #5; mlx-vlm #2031; Keyformer (hole)",
     .not_applicable = unless_latest_is_kept,
     .check = per_unit<recent>},
    {.id = "resident.survivors",
     .sentence = "What is stored after a call was stored before it or came with it.",
     .why = "A cache can only forget or take in; a row that is stored now and was not before, and "
            "was not fed in between, is a row that had been counted as evicted. Then the reported "
            "size was not the real one, or memory that was given back is used again. Calls that go "
            "back "
            "in the stream are judged by other laws.",
     .seen_in = "sglang #31501; vllm #622; ollama #6831",
     .check = per_unit<survivors>},
});

}  // namespace

constinit const Laws resident_laws = table;

}  // namespace kv::properties
