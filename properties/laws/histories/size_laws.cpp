#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/unwritten.h"

namespace kv::properties {
namespace {

WhyNot unless_filled(const Contract& contract) {
  if (contract.keeps_fewer) return "keeps-fewer is declared";
  return {};
}

WhyNot unless_paged(const Contract& contract) {
  if (contract.page <= 1) return "no pages are declared";
  if (contract.masks_evicted) return "masks-instead: hidden rows remain stored";
  return unless_bounded(contract);
}

WhyNot unless_constant(const Contract& contract) {
  if (!contract.claims_to_be("constant-size")) return "it does not claim constant-size";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  if (contract.shares_budget()) return "mean-budget: a unit's size follows the others'";
  if (contract.masks_evicted) return "masks-instead: hidden rows remain stored";
  return {};
}

std::string stored_text(const UnitView& at) {
  return rows_text(at.facts.stored.size()) + ": " + text_of(at.stored());
}

MaybeFinding stored(const UnitView& at) {
  const std::uint64_t most = at.contract.most_stored(at.branch().size(), at.step.chunk);
  if (at.facts.stored.size() <= most) return {};
  return at.finding("at most " + rows_text(most) + " stored" + at.after_text(),
                    stored_text(at) + unwritten_hint(at.facts.stored));
}

// Only after feeds: a truncate may leave fewer rows than the budget, with nothing to fill them.
MaybeFinding full(const UnitView& at) {
  if (!at.step.fed()) return {};
  const std::uint64_t fewest = at.contract.fewest_stored(at.branch().size(), at.step.chunk);
  if (at.facts.stored.size() >= fewest) return {};
  return at.finding("at least " + rows_text(fewest) + " stored" + at.after_text(), stored_text(at));
}

// Units with budgets of their own do not say which: the largest size that one had after an earlier
// trim is then its budget, or less. Under trim-then-attend a wide chunk leaves more for one call.
Judgement constant(const History& history, const Contract& contract) {
  const std::size_t units = history.units() / history.what.setup.sequences;
  const bool remembers =
      contract.uneven() && contract.budgets.empty() && contract.timing != Timing::trim_then_attend;
  std::vector<std::uint64_t> full(units);
  return each_unit(history, contract, [&](const UnitView& at) -> MaybeFinding {
    const std::size_t stored = at.facts.stored.size();
    const bool freed =
        at.step.fed() && stored < at.step.stored_before(at.unit).size() + at.event().fed.size();
    if (!freed) return {};
    const std::uint64_t fewest = at.contract.fewest_stored(at.branch().size(), at.step.chunk);
    const std::uint64_t least = std::max(fewest, remembers ? full[at.unit % units] : 0);
    full[at.unit % units] = std::max<std::uint64_t>(full[at.unit % units], stored);
    if (stored >= least) return {};
    return at.finding("a full unit of " + rows_text(least) + " remains full" + at.after_text(),
                      stored_text(at));
  });
}

MaybeFinding visible(const QueryView& at) {
  const std::size_t before = at.step.stored_before(at.unit).size();
  const std::uint64_t most = at.contract.most_visible(before, at.event().fed.size(), at.query);
  const Tokens seen = at.visible();
  if (seen.size() <= most) return {};
  return at.finding("sees at most " + rows_text(most) + ", " + rows_text(before) +
                        " having been stored before the call",
                    "it sees " + std::to_string(seen.size()) + ": " + text_of(seen));
}

// A page that holds sinks keeps them when it is freed, so its other rows leave without it: that
// remainder is the only one that a whole number of pages may have.
MaybeFinding pages(const UnitView& at) {
  if (!at.step.fed()) return {};
  const std::size_t page = at.contract.page;
  const std::size_t beside_sinks = (page - at.contract.sinks % page) % page;
  const Tokens gone = minus(joined(at.stored_before(), at.event().fed), at.stored());
  const std::size_t rest = gone.size() % page;
  if (rest == 0 || rest == beside_sinks) return {};
  return at.finding("rows are freed in whole pages of " + std::to_string(page) + at.after_text(),
                    std::to_string(gone.size()) + " are freed: " + text_of(gone));
}

Judgement reported(const History& history, const Contract& contract) {
  bool any = false;
  Judgement judgement = each_unit(history, contract, [&](const UnitView& at) -> MaybeFinding {
    if (!at.facts.reported) return {};
    any = true;
    if (*at.facts.reported == at.facts.stored.size()) return {};
    return at.finding("the reported length is the " + rows_text(at.facts.stored.size()) +
                          " that are stored" + at.after_text(),
                      "it reports " + std::to_string(*at.facts.reported));
  });
  return unless_silent(std::move(judgement), any, {"the subject reports no length", true});
}

// We make rows and mask from lists of visible rows, so their shape cannot be wrong and
// shows nothing.
Judgement mask_width(const History& history, const Contract& contract) {
  bool any = false;
  Judgement judgement = each_unit(history, contract, [&](const UnitView& at) -> MaybeFinding {
    const std::size_t queries = at.event().fed.size();
    if (!at.step.fed()) return {};  // only queries have masks
    any |= !at.facts.listed;
    const std::size_t width = at.facts.mask_width;
    if (width != at.facts.returned.size()) {
      return at.finding("the mask has a column for each of the " +
                            rows_text(at.facts.returned.size()) + " returned to attention",
                        "it is " + std::to_string(width) + " wide");
    }
    if (at.facts.visible.size() == queries * width) return {};
    return at.finding(
        "the mask has " + std::to_string(queries) + " x " + std::to_string(width) + " entries",
        "it has " + std::to_string(at.facts.visible.size()));
  });
  return unless_silent(std::move(judgement), any,
                       {"the subject tells no masks, but lists of what each query sees", true});
}

constexpr auto table = std::to_array<Law>({
    {.id = "size.stored",
     .sentence = "After every call no more rows are stored than the contract allows.",
     .why = "A cache is bought for its bound. After each call the rows in memory are counted and "
            "compared with the declared budget: exactly the budget under attend-then-trim, plus "
            "the slack under lazy, plus a chunk longer than the recent window under "
            "trim-then-attend. Rows above the bound inside a call are no matter here; rows that "
            "stay are. A cache that compresses each chunk alone grows with the number of chunks, "
            "and one that trims in the prompt only grows with every generated token.",
     .seen_in = "VeloxQuant-MLX #84, #86, #274; LOOK-M #4; transformers #48280; vLLM #34568",
     .not_applicable = unless_bounded,
     .check = per_unit<stored>},
    {.id = "size.full",
     .sentence = "A cache that was given enough tokens remains full.",
     .why = "Rows that the budget would hold but that are not there are quality thrown away, and "
            "they are invisible in any size limit. Once as many tokens as the budget were fed, the "
            "cache must hold at least the budget after every call; before that, every token. "
            "Slices that come out empty, remainders dropped between blocks and windows, and trims "
            "computed from an allocated width all leave too little. A policy that may keep fewer "
            "declares keeps-fewer.",
     .seen_in = "kvpress #264, #146; mlx-vlm #2031; streaming-llm evict_for_space; seed 002",
     .not_applicable = unless_filled,
     .check = per_unit<full>},
    {.id = "size.constant",
     .sentence = "A cache that claims constant-size evicts no more than it must.",
     .why = "A caller that allocates memory once, or shares it between layers by a table, relies "
            "on a full "
            "cache that remains full. A unit that freed rows must still hold its budget; where "
            "layers or heads have budgets of their own, which the contract gives as a range only, "
            "it must hold what it held after the trims before. So a budget that shrinks on the way "
            "shows, though every size is in the range.",
     .seen_in = "made, after budgets that PyramidKV's floors change on the way",
     .not_applicable = unless_constant,
     .check = constant},
    {.id = "size.visible",
     .sentence = "No query sees more rows than the declared timing and visibility allow.",
     .why = "What a query attends to, not what is stored, sets its quality, so a cache that shows "
            "a query more than it declares is not the cache that will be deployed. The bound is "
            "counted per query, its own key included: the budget under visibility=window, and what "
            "was stored before the call plus the chunk up to the query under causal visibility. "
            "Windows that are inclusive at both ends, masks bounded once per chunk, and fast paths "
            "without a mask break it.",
     .seen_in =
         "executorch #21857; mlx-lm #390; VeloxQuant-MLX #463; sglang #31501; streaming-llm #48",
     .not_applicable = unless_bounded,
     .check = per_query<visible>},
    {.id = "size.pages",
     .sentence = "Where pages are declared, rows are freed in whole pages.",
     .why = "Pages excuse much: more is stored than the budget, and what a query sees is judged "
            "less strictly. A cache that declares them to be excused, and frees row by row, gets "
            "the slack and owes nothing for it. What leaves in a call is counted: a multiple of "
            "the page, or what a page holds beside the sinks on top.",
     .seen_in = "made, to find such",
     .not_applicable = unless_paged,
     .check = per_unit<pages>},
    {.id = "size.reported",
     .sentence = "The length that the cache reports is the number of rows it stores.",
     .why = "Callers size masks, positions and further allocations by the reported length. If it "
            "is the length of the stream, the requested budget or a stale count, every user of it "
            "is wrong while the cache itself looks right. A cache that never evicted once reported "
            "its window all the same. The law is silent where no length is reported.",
     .seen_in = "VeloxQuant-MLX #274; mlxcel #420; KVCache-Factory kv_seq_len",
     .check = reported},
    {.id = "size.mask-width",
     .sentence = "The mask has one column for each returned row and one line per query.",
     .why =
         "A mask that is wider or narrower than the keys it is laid over either crashes or is "
         "cut to fit, and then hides or shows the wrong rows. It happens when the mask is made "
         "from the length of the stream, from an allocated capacity, or from another layer, and "
         "the keys from what is stored. Width and rows are reported apart here and must agree in "
         "every call.",
     .seen_in = "mlxcel #412, #413, #420, #1776; VeloxQuant-MLX #390; transformers #48280",
     .must_see = {.eviction = false},
     .check = mask_width},
});

}  // namespace

constinit const Laws size_laws = table;

}  // namespace kv::properties
