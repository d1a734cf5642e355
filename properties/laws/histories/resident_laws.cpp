#include <algorithm>
#include <utility>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/resident_detail.h"

namespace kv::properties {
namespace {

std::optional<std::string> never(const Contract&) {
  return std::nullopt;
}

std::optional<std::string> unless_sinks(const Contract& contract) {
  if (contract.sinks == 0) return "no sinks are declared";
  return std::nullopt;
}

std::optional<std::string> unless_latest_is_kept(const Contract& contract) {
  if (contract.recent == 0 && contract.self_may_go) {
    return "self-may-go is declared and no recent tokens are";
  }
  return std::nullopt;
}

std::optional<std::string> unless_ordered(const Contract& contract) {
  if (contract.unordered) return "unordered is declared: slots need not stand in stream order";
  return std::nullopt;
}

std::string where_text(bool stored) {
  return stored ? "a stored row" : "a row that attention sees";
}

// Calls judge(rows, stored?) on what is stored and on what some query sees.
template <typename Judge>
Judgement each_store(const History& history, Judge judge) {
  return each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (step.fed()) {
          const std::vector<Row> seen = seen_rows(facts, step.event->fed.size());
          if (auto finding = judge(step, unit, seen, false)) return finding;
        }
        return judge(step, unit, facts.stored, true);
      });
}

Judgement fed(const History& history, const Contract&) {
  return each_store(
      history,
      [](const Step& step, std::size_t unit, const std::vector<Row>& rows,
         bool stored) -> std::optional<Finding> {
        Tokens branch = step.event->branch;
        std::ranges::sort(branch);
        for (std::size_t slot = 0; slot < rows.size(); ++slot) {
          const Token token = rows[slot].value;
          if (contains(branch, token)) continue;
          return finding_at(
              step, unit,
              where_text(stored) + " holds one of the tokens of its branch, " + text_of(branch),
              "slot " + std::to_string(slot) + " holds " + text_of({token}));
        }
        return std::nullopt;
      });
}

Judgement unique(const History& history, const Contract&) {
  return each_store(history,
                    [](const Step& step, std::size_t unit, const std::vector<Row>& rows,
                       bool stored) -> std::optional<Finding> {
                      const Tokens tokens = tokens_of(rows);
                      const auto twin = std::ranges::adjacent_find(tokens);
                      if (twin == tokens.end()) return std::nullopt;
                      return finding_at(step, unit,
                                        "no token is in " + where_text(stored) + " twice",
                                        text_of({*twin}) + " is there " +
                                            std::to_string(std::ranges::count(tokens, *twin)) +
                                            " times, among " + text_of(tokens));
                    });
}

Judgement order(const History& history, const Contract&) {
  return each_store(history,
                    [](const Step& step, std::size_t unit, const std::vector<Row>& rows,
                       bool stored) -> std::optional<Finding> {
                      for (std::size_t slot = 1; slot < rows.size(); ++slot) {
                        const Token before = rows[slot - 1].value;
                        const Token token = rows[slot].value;
                        if (before.position <= token.position) continue;
                        return finding_at(step, unit,
                                          std::string(stored ? "stored" : "returned") +
                                              " rows stand in stream order",
                                          text_of({token}) + " stands behind " + text_of({before}));
                      }
                      return std::nullopt;
                    });
}

// What of `wanted` is not stored.
std::optional<Finding> missing(const Step& step,
                               std::size_t unit,
                               const UnitFacts& facts,
                               const Tokens& requested,
                               const std::string& what) {
  const Tokens stored = tokens_of(facts.stored);
  if (includes(stored, requested)) return std::nullopt;
  return finding_at(step, unit,
                    what + " " + text_of(requested) + " are stored after " +
                        std::to_string(step.event->branch.size()) + " tokens",
                    text_of(minus(requested, stored)) + " is not; stored are " + text_of(stored));
}

Judgement sinks(const History& history, const Contract& contract) {
  return each_unit(history, [&](const Step& step, std::size_t unit, const UnitFacts& facts) {
    return missing(step, unit, facts, between(step.event->branch, 0, contract.sinks), "the sinks");
  });
}

Judgement recent(const History& history, const Contract& contract) {
  const std::uint32_t latest = std::max(contract.recent, contract.self_may_go ? 0U : 1U);
  return each_unit(history, [&](const Step& step, std::size_t unit, const UnitFacts& facts) {
    const auto end = static_cast<std::int64_t>(step.event->branch.size());
    return missing(step, unit, facts, between(step.event->branch, end - latest, end),
                   "the latest " + std::to_string(latest) + " tokens");
  });
}

Judgement survivors(const History& history, const Contract&) {
  return each_unit(
      history,
      [](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (!step.fed()) return std::nullopt;
        Tokens chunk = step.event->fed;
        std::ranges::sort(chunk);
        const Tokens before = tokens_of(step.stored_before(unit));
        const Tokens stored = tokens_of(facts.stored);
        const Tokens other = minus(stored, joined(before, chunk));
        if (other.empty()) return std::nullopt;
        return finding_at(step, unit,
                          "what is stored after a call was stored before it (" + text_of(before) +
                              ") or came with it (" + text_of(chunk) + ")",
                          text_of(other) + " is stored too");
      });
}

Law fed_law() {
  return {.id = "rows.fed",
          .sentence = "Every row holds a token that its branch was fed, and nothing else.",
          .why =
              "Rows that hold no token of the branch are padding, memory that was never written, "
              "or the leavings of a stream that was reset, a branch that was left or tokens that "
              "were taken back. Stored, they take the place of real tokens; seen, they are mixed "
              "into the output. Returned rows that the mask hides from every query are allowed.",
          .seen_in = "tt-metal #49614; mlx-lm #1868; vllm #622; KVCache-Factory (state kept)",
          .wants = {},
          .must_see = {.eviction = false},
          .not_applicable = never,
          .check = &fed};
}

Law unique_law() {
  return {
      .id = "rows.unique",
      .sentence = "No token is held twice.",
      .why =
          "A token that is stored or seen twice gets nearly twice the attention that is due to it "
          "and takes the place of another. Overlapping sinks and windows, slices whose bounds "
          "cross, and buffers that are copied onto themselves make twins. Sizes and counts look "
          "right all the while.",
      .seen_in = "seed 000, figure 3; streaming-llm slices; ollama #6831, #14912",
      .wants = {},
      .must_see = {},
      .not_applicable = never,
      .check = &unique};
}

Law order_law() {
  return {.id = "rows.order",
          .sentence = "Slots stand in stream order, unless the subject declares otherwise.",
          .why =
              "Code that reads a slot's index as its age, and masks that are causal by column, "
              "are right only for rows in the order of the stream. Survivors left in the order of "
              "their scores do no harm to attention itself, but the next compression then protects "
              "whatever stands in the first slots. Rings and score order are legal when declared "
              "as unordered.",
          .seen_in = "kvpress #173; SnapKV #16; ollama #14912",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_ordered,
          .check = &order};
}

Law sinks_law() {
  return {.id = "resident.sinks",
          .sentence = "The first tokens stay stored for ever, as many as are declared.",
          .why =
              "Sinks are the first tokens of the stream, not of the latest chunk and not whatever "
              "stands in the first slots. Once one is evicted it can never come back, and a model "
              "that leans on it falls apart. Caches that anchor them anew with each chunk, that "
              "use another sequence's, or that evict from page 0 lose them.",
          .seen_in = "VeloxQuant-MLX #84, #90; keys_values #140; kvpress #173; Reward-Forcing #5",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_sinks,
          .check = &sinks};
}

Law recent_law() {
  return {.id = "resident.recent",
          .sentence = "The latest tokens stay stored, as many as are declared, the newest always.",
          .why =
              "The recent window is protected from every decision, and the newest token must live "
              "to be seen by the next one. Evicting the lowest score of all rows lets the newcomer "
              "go, whose score is still zero, and the cache freezes on its prompt. Evicting from "
              "the wrong end, or one slot too many, loses recent tokens as well. A policy under "
              "which the newest may go at once declares self-may-go.",
          .seen_in = "VeloxQuant-MLX #137; Reward-Forcing #5; mlx-vlm #2031; Keyformer (hole)",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_latest_is_kept,
          .check = &recent};
}

Law survivors_law() {
  return {
      .id = "resident.survivors",
      .sentence = "What is stored after a call was stored before it or came with it.",
      .why =
          "A cache can only forget or take in; a row that is stored now and was not before, and "
          "was not fed in between, is a row that had been counted as gone. Then the told size was "
          "not the real one, or memory that was given back is used again. Calls that go back in "
          "the stream are judged by other laws.",
      .seen_in = "sglang #31501; vllm #622; ollama #6831",
      .wants = {},
      .must_see = {},
      .not_applicable = never,
      .check = &survivors};
}

}  // namespace

std::vector<Law> resident_laws() {
  std::vector<Law> laws = {fed_law(),   unique_law(), order_law(),
                           sinks_law(), recent_law(), survivors_law()};
  for (const Law& law : return_laws()) laws.push_back(law);
  return laws;
}

}  // namespace kv::properties
