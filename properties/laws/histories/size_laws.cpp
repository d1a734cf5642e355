#include <utility>

#include "kvcheck/properties/laws/judging/cost_detail.h"
#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

std::optional<std::string> never(const Contract&) {
  return std::nullopt;
}

std::optional<std::string> unless_bounded(const Contract& contract) {
  if (contract.budget == 0) return "no budget is declared: nothing is ever evicted";
  return std::nullopt;
}

std::optional<std::string> unless_filled(const Contract& contract) {
  if (contract.keeps_fewer) return "keeps-fewer is declared";
  return std::nullopt;
}

std::optional<std::string> unless_paged(const Contract& contract) {
  if (contract.page <= 1) return "no pages are declared";
  if (contract.masks_instead) return "masks-instead: hidden rows stay stored";
  return unless_bounded(contract);
}

std::string after_text(const Step& step) {
  return " after " + std::to_string(step.event->branch.size()) + " tokens";
}

Judgement stored(const History& history, const Contract& contract) {
  return each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        const std::uint64_t most = contract.most_stored(step.event->branch.size(), step.chunk);
        if (facts.stored.size() <= most) return std::nullopt;
        return finding_at(step, unit, "at most " + rows_text(most) + " stored" + after_text(step),
                          rows_text(facts.stored.size()) + ": " + text_of(tokens_of(facts.stored)));
      });
}

Judgement full(const History& history, const Contract& contract) {
  return each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (!step.fed()) return std::nullopt;
        const std::uint64_t fewest = contract.fewest_stored(step.event->branch.size(), step.chunk);
        if (facts.stored.size() >= fewest) return std::nullopt;
        return finding_at(step, unit,
                          "at least " + rows_text(fewest) + " stored" + after_text(step),
                          rows_text(facts.stored.size()) + ": " + text_of(tokens_of(facts.stored)));
      });
}

Judgement visible(const History& history, const Contract& contract) {
  return each_query(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts,
          std::size_t query) -> std::optional<Finding> {
        const std::size_t before = step.stored_before(unit).size();
        const std::uint64_t most = contract.most_visible(before, step.event->fed.size(), query);
        const Tokens seen = visible_to(facts, query);
        if (seen.size() <= most) return std::nullopt;
        return finding_at(step, unit, query,
                          query_text(*step.event, query) + " sees at most " + rows_text(most) +
                              ", " + rows_text(before) + " having been stored before the call",
                          "it sees " + std::to_string(seen.size()) + ": " + text_of(seen));
      });
}

// The rows that a page of the sinks shares with others leave without the sinks.
Judgement pages(const History& history, const Contract& contract) {
  const std::size_t page = contract.page;
  const std::size_t beside = contract.sinks % page == 0 ? 0 : page - contract.sinks % page;
  return each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (!step.fed()) return std::nullopt;
        const Tokens here = joined(tokens_of(step.stored_before(unit)), step.event->fed);
        const Tokens gone = minus(here, tokens_of(facts.stored));
        const std::size_t rest = gone.size() % page;
        if (rest == 0 || rest == beside) return std::nullopt;
        return finding_at(step, unit,
                          "rows go in whole pages of " + std::to_string(page) + after_text(step),
                          std::to_string(gone.size()) + " go: " + text_of(gone));
      });
}

Judgement reported(const History& history, const Contract&) {
  bool reported = false;
  Judgement judgement = each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (!facts.reported) return std::nullopt;
        reported = true;
        if (*facts.reported == facts.stored.size()) return std::nullopt;
        return finding_at(step, unit,
                          "the reported length is the " + rows_text(facts.stored.size()) +
                              " that are stored" + after_text(step),
                          "it reports " + std::to_string(*facts.reported));
      });
  if (!reported) return NotTested{"the subject reports no length", true};
  return judgement;
}

Judgement mask_width(const History& history, const Contract&) {
  bool reported = false;
  Judgement judgement = each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        if (step.event->refused || step.event->call.kind != Call::Kind::feed) return std::nullopt;
        const std::size_t queries = step.event->fed.size();
        reported |= queries > 0 && !facts.listed;
        if (queries > 0 && facts.mask_width != facts.returned.size()) {
          return finding_at(step, unit,
                            "the mask has a column for each of the " +
                                rows_text(facts.returned.size()) + " returned to attention",
                            "it is " + std::to_string(facts.mask_width) + " wide");
        }
        const std::size_t cells = queries * facts.mask_width;
        if (queries == 0 || facts.visible.size() == cells) return std::nullopt;
        return finding_at(step, unit,
                          "the mask has " + std::to_string(queries) + " x " +
                              std::to_string(facts.mask_width) + " cells",
                          "it has " + std::to_string(facts.visible.size()));
      });
  if (!reported && std::holds_alternative<std::monostate>(judgement)) {
    return NotTested{"the subject tells no masks, but lists of what each query sees", true};
  }
  return judgement;
}

Law stored_law() {
  return {.id = "size.stored",
          .sentence = "After every call no more rows are stored than the contract allows.",
          .why =
              "A cache is bought for its bound. After each call the rows in memory are counted and "
              "compared with the declared budget: exactly the budget under attend-then-trim, plus "
              "the slack under lazy, plus a chunk longer than the recent window under "
              "trim-then-attend. Rows above the bound inside a call are no matter here; rows that "
              "stay are. A cache that compresses each chunk alone grows with the number of chunks, "
              "and one that trims in the prompt only grows with every generated token.",
          .seen_in = "VeloxQuant-MLX #84, #86, #274; LOOK-M #4; transformers #48280; vLLM #34568",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_bounded,
          .check = &stored};
}

Law full_law() {
  return {.id = "size.full",
          .sentence = "A cache that was given enough tokens stays full.",
          .why =
              "Rows that the budget would hold but that are not there are quality thrown away, and "
              "they are invisible in any size limit. Once as many tokens as the budget were fed, "
              "the cache must hold at least the budget after every call; before that, every token. "
              "Slices that come out empty, remainders dropped between blocks and windows, and "
              "trims computed from an allocated width all leave too little. A policy that may keep "
              "fewer declares keeps-fewer.",
          .seen_in = "kvpress #264, #146; mlx-vlm #2031; streaming-llm evict_for_space; seed 002",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_filled,
          .check = &full};
}

Law visible_law() {
  return {.id = "size.visible",
          .sentence = "No query sees more rows than the declared timing and visibility allow.",
          .why =
              "What a query attends to, not what is stored, sets its quality, so a cache that "
              "shows a query more than it declares is not the cache that will be deployed. The "
              "bound is counted per query, its own key included: the budget under "
              "visibility=window, and what was stored before the call plus the chunk up to the "
              "query under causal visibility. Windows that are inclusive at both ends, masks "
              "bounded once per chunk, and fast paths without a mask break it.",
          .seen_in =
              "executorch #21857; mlx-lm #390; VeloxQuant-MLX #463; sglang #31501; "
              "streaming-llm #48",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_bounded,
          .check = &visible};
}

Law pages_law() {
  return {.id = "size.pages",
          .sentence = "Where pages are declared, rows go in whole pages.",
          .why =
              "Pages excuse much: more is stored than the budget, and what a query sees is judged "
              "less strictly. A cache that declares them to be excused, and frees row by row, gets "
              "the slack and owes nothing for it. What leaves in a call is counted: a multiple of "
              "the page, or what a page holds beside the sinks on top.",
          .seen_in = "made, to find such",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_paged,
          .check = &pages};
}

Law reported_law() {
  return {.id = "size.reported",
          .sentence = "The length that the cache reports is the number of rows it stores.",
          .why =
              "Callers size masks, positions and further allocations by the reported length. If it "
              "is the length of the stream, the wished-for budget or a stale count, every user of "
              "it is wrong while the cache itself looks right. A cache that never evicted once "
              "reported its window all the same. The law is silent where no length is told.",
          .seen_in = "VeloxQuant-MLX #274; mlxcel #420; KVCache-Factory kv_seq_len",
          .wants = {},
          .must_see = {},
          .not_applicable = never,
          .check = &reported};
}

Law mask_width_law() {
  return {.id = "size.mask-width",
          .sentence = "The mask has one column for each returned row and one line per query.",
          .why =
              "A mask that is wider or narrower than the keys it is laid over either crashes or is "
              "cut to fit, and then hides or shows the wrong rows. It happens when the mask is "
              "made from the length of the stream, from an allocated capacity, or from another "
              "layer, and the keys from what is stored. Width and rows are told apart here and "
              "must agree in every call.",
          .seen_in = "mlxcel #412, #413, #420, #1776; VeloxQuant-MLX #390; transformers #48280",
          .wants = {},
          .must_see = {.eviction = false},
          .not_applicable = never,
          .check = &mask_width};
}

}  // namespace

std::vector<Law> size_laws() {
  std::vector<Law> laws = {stored_law(), full_law(),     visible_law(),
                           pages_law(),  reported_law(), mask_width_law()};
  for (const Law& law : cost_laws()) laws.push_back(law);
  for (const Law& law : sharing_laws()) laws.push_back(law);
  return laws;
}

}  // namespace kv::properties
