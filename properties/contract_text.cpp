#include <array>
#include <utility>

#include "kvcheck/policies/claims.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/sim/spec/phases.h"

namespace kv::properties {
namespace {

std::string rows(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

void timing_line(const Contract& contract, std::vector<std::string>& lines) {
  if (contract.timing == Timing::lazy) {
    lines.push_back("timing=lazy: up to " + rows(contract.slack) +
                    " over the budget may stay stored after a call");
  } else if (contract.timing == Timing::trim_then_attend) {
    lines.push_back(
        "timing=trim-then-attend: room is made before a chunk, and one longer than the recent "
        "window is stored whole");
  }
}

void position_line(const Contract& contract, std::vector<std::string>& lines) {
  if (contract.positions == PositionMode::in_cache) {
    lines.push_back("positions=in-cache: distances are differences of rank, not of position");
  } else if (contract.positions == PositionMode::shifted) {
    lines.push_back("positions=shifted: stored keys are rotated again whenever a gap closes");
  } else if (contract.positions == PositionMode::unreported) {
    lines.push_back("positions are not reported: the laws on rotary positions cannot be tried");
  }
}

void sharing_line(const Contract& contract, std::vector<std::string>& lines) {
  if (contract.unit == Unit::kv_head) return;
  const std::string sharing = contract.unit == Unit::head    ? "each query head keeps its own"
                              : contract.unit == Unit::layer ? "all heads of a layer share their"
                                                             : "all layers and heads share their";
  lines.push_back("unit=" + std::string(name_of(contract.unit)) + ": " + sharing + " residents");
}

void owner_lines(const Contract& contract, std::vector<std::string>& lines) {
  if (!contract.shares_rows()) return;
  std::string list;
  std::size_t without = 0;
  for (std::uint32_t layer = 0; layer < contract.rows_from.size(); ++layer) {
    list += (layer == 0 ? "" : ",") + std::to_string(contract.rows_from[layer]);
    if (!contract.owns_rows(layer)) ++without;
  }
  lines.push_back(
      "rows-from=" + list + ": " + std::to_string(without) +
      (without == 1 ? " layer stores no rows and attends" : " layers store no rows and attend") +
      " to those of the layer that is named");
}

// Which rows are exact all the same.
std::string residual_text(const Contract& contract) {
  const std::uint32_t recent = contract.full_precision_recent;
  const std::uint32_t sinks = contract.full_precision_sinks;
  if (!has_tiers(contract.precision) || (recent == 0 && sinks == 0)) return "";
  return ", but for the " + (recent > 0 ? "last " + std::to_string(recent) : "") +
         (recent > 0 && sinks > 0 ? " and the " : "") +
         (sinks > 0 ? "first " + std::to_string(sinks) : "");
}

void prompt_lines(const Contract& contract, std::vector<std::string>& lines) {
  if (contract.compress != Compress::always) {
    lines.push_back("compress=" + std::string(name_of(contract.compress)) +
                    ": what an empty cache takes in one call is a prompt, which is stored whole "
                    "until its end; after it " +
                    (contract.grows() ? "every token is kept" : "the budget is held"));
  }
  if (contract.ratio > 0) {
    lines.push_back("ratio=" + ratio_text(contract.ratio) +
                    ": this share of the prompt is the budget, if it is more than " +
                    rows(contract.shares_budget() ? contract.mean_budget : contract.budget));
  }
}

void flag_lines(const Contract& contract, std::vector<std::string>& lines) {
  const std::array<std::pair<bool, std::string_view>, 10> flags = {{
      {contract.unordered, "unordered: slots need not stand in stream order"},
      {contract.masks_evicted, "masks-instead: hidden rows remain stored and may be seen again"},
      {contract.shows_pages, "shows-pages: queries may see all rows of the pages that are stored"},
      {contract.may_evict_newest, "self-may-go: the newest token may be evicted at once"},
      {contract.random, "random: other seeds give other residents"},
      {contract.keeps_fewer, "keeps-fewer: a full cache may hold less than its budget"},
      {contract.evicts_ahead,
       "evicts-ahead: between calls one row less than the budget is stored, and the next token "
       "takes "
       "its place"},
      {contract.windows, "windows: each unit keeps the sinks and the newest tokens of its budget"},
      {contract.shifts, "shifts: a shift closes the gap behind the sinks"},
      {contract.wants_attention, "wants-attention: attention decides which tokens are kept"},
  }};
  for (const auto& [set, line] : flags) {
    if (set) lines.emplace_back(line);
  }
  if (contract.uneven()) {
    const bool all = contract.largest_budget == any_depth;
    lines.push_back("largest-budget=" + (all ? "any" : std::to_string(contract.largest_budget)) +
                    ": layers or heads have budgets of their own, from " +
                    std::to_string(contract.budget) + (all ? " to everything" : "") + " rows" +
                    (contract.budgets.empty() ? "" : ", each of them declared"));
  }
  if (contract.shares_budget()) {
    lines.push_back("mean-budget=" + std::to_string(contract.mean_budget) +
                    ": the units of a layer keep so many rows on average, and what one keeps "
                    "depends on the others");
  }
  prompt_lines(contract, lines);
  if (contract.page > 1) {
    lines.push_back("page=" + std::to_string(contract.page) +
                    ": rows come and go in pages, so that up to one page more is stored; what a "
                    "query may see is the same");
  }
  if (contract.longest_chunk > 0) {
    lines.push_back("longest-chunk=" + std::to_string(contract.longest_chunk) +
                    ": longer chunks are refused");
  }
  if (contract.first_chunk > 0) {
    const bool any = contract.first_chunk == any_depth;
    lines.push_back("first-chunk=" + (any ? "any" : std::to_string(contract.first_chunk)) +
                    ": an empty cache takes a longer chunk, " +
                    (any ? "of any length" : "up to this length"));
  }
  if (contract.precision != Precision::f32) {
    constexpr std::array<std::string_view, 5> words = {"f32", "f16", "bf16", "int8", "int4"};
    lines.push_back(
        "precision=" + std::string(words[static_cast<std::size_t>(contract.precision)]) +
        ": keys and values are exact only so far" + residual_text(contract));
  }
}

// One more declaration, if the contract does not make it already.
struct Relaxations {
  const Contract& contract;
  std::vector<Relaxation> all{};

  void add(std::string declaration, Contract changed) {
    if (!(changed == contract)) all.push_back({std::move(declaration), std::move(changed)});
  }

  template <typename Value>
  void set(std::string declaration, Value Contract::*field, Value value) {
    Contract changed = contract;
    changed.*field = value;
    add(std::move(declaration), std::move(changed));
  }

  // A prompt that is compressed once, to the budget or to one of the shares that are usual.
  void compressions() {
    constexpr std::array<std::uint32_t, 16> shares = {0,   100, 125, 200, 250, 300, 333, 400,
                                                      500, 600, 667, 700, 750, 800, 875, 900};
    if (contract.compress != Compress::always || contract.budget == 0) return;
    for (const Compress compress : {Compress::prompt_grow, Compress::prompt_hold}) {
      const bool grows = compress == Compress::prompt_grow;
      if (contract.evicts_ahead || (grows && contract.claims_to_be("constant-size"))) continue;
      for (const std::uint32_t share : shares) {
        Contract changed = contract;
        changed.compress = compress;
        changed.ratio = share;
        changed.visibility = Visibility::causal;
        if (grows) changed.timing = Timing::attend_then_trim;
        add("compress=" + std::string(name_of(compress)) +
                (share > 0 ? ", ratio=" + ratio_text(share) : "") + " and visibility=causal",
            std::move(changed));
      }
    }
  }
};

}  // namespace

std::string_view name_of(Compress compress) {
  constexpr std::array<std::string_view, 3> words = {"always", "prompt+grow", "prompt+hold"};
  return words[static_cast<std::size_t>(compress)];
}

std::vector<std::string> deviations(const Contract& contract) {
  std::vector<std::string> lines;
  timing_line(contract, lines);
  if (contract.visibility == Visibility::causal && contract.budget > 0) {
    lines.emplace_back(
        "visibility=causal: a query sees everything stored before it, which inside a chunk is more "
        "than the budget");
  }
  if (contract.visibility == Visibility::top_pages) {
    const TopPages& sizes = contract.top_pages;
    lines.push_back("visibility=top-pages: nothing is evicted, and each query attends to " +
                    rows(sizes.attended) + " at most, in whole pages of " +
                    std::to_string(sizes.page) + ", selected anew by each head; in the first " +
                    std::to_string(sizes.dense_layers) + " layers to everything");
  }
  position_line(contract, lines);
  sharing_line(contract, lines);
  owner_lines(contract, lines);
  flag_lines(contract, lines);
  return lines;
}

std::string wrong_claims(const std::set<std::string, std::less<>>& claims) {
  for (const std::string& claim : claims) {
    if (std::string wrong = wrong_claim(claim); !wrong.empty()) return wrong;
  }
  return {};
}

std::string wrong_owners(std::span<const std::uint32_t> rows_from) {
  for (std::size_t layer = 0; layer < rows_from.size(); ++layer) {
    const std::uint32_t owner = rows_from[layer];
    if (owner <= layer && rows_from[owner] == owner) continue;
    const std::string names =
        "names layer " + std::to_string(owner) + " for layer " + std::to_string(layer);
    if (owner > layer) return names + ", which comes later; expected an earlier layer or its own";
    return names + ", which stores no rows itself; expected layer " +
           std::to_string(rows_from[owner]) + ", whose rows it reads";
  }
  return {};
}

std::vector<Relaxation> relaxations(const Contract& contract) {
  Relaxations out{contract};
  out.set("visibility=causal", &Contract::visibility, Visibility::causal);
  out.set("timing=attend-then-trim", &Contract::timing, Timing::attend_then_trim);
  out.set("timing=trim-then-attend", &Contract::timing, Timing::trim_then_attend);
  Contract causal = contract;
  causal.visibility = Visibility::causal;
  causal.timing = Timing::trim_then_attend;
  out.add("timing=trim-then-attend and visibility=causal", causal);
  causal.timing = Timing::lazy;
  for (const std::uint32_t slack : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
    if (contract.timing == Timing::lazy && contract.slack >= slack) continue;
    causal.slack = slack;
    out.add("timing=lazy:" + std::to_string(slack) + " and visibility=causal", causal);
  }
  out.set("positions=in-cache", &Contract::positions, PositionMode::in_cache);
  out.set("positions=absolute", &Contract::positions, PositionMode::absolute);
  out.set("positions=shifted", &Contract::positions, PositionMode::shifted);
  out.set("unit=head", &Contract::unit, Unit::head);
  out.set("unit=layer", &Contract::unit, Unit::layer);
  out.set("unit=model", &Contract::unit, Unit::model);
  out.set("unordered", &Contract::unordered, true);
  out.set("masks-instead", &Contract::masks_evicted, true);
  out.set("self-may-go", &Contract::may_evict_newest, true);
  out.set("keeps-fewer", &Contract::keeps_fewer, true);
  out.set("evicts-ahead", &Contract::evicts_ahead, true);
  out.set("random", &Contract::random, true);
  Contract prompt = contract;
  prompt.longest_chunk = 1;
  prompt.first_chunk = any_depth;
  out.add("first-chunk=any and longest-chunk=1", prompt);
  out.compressions();
  for (const std::uint32_t page : {2U, 4U, 8U, 16U}) {
    if (contract.page < page) out.set("page=" + std::to_string(page), &Contract::page, page);
    Contract shown = contract;
    shown.page = std::max(contract.page, page);
    shown.shows_pages = true;
    out.add("page=" + std::to_string(shown.page) + " and shows-pages", shown);
  }
  out.set("precision=f16", &Contract::precision, Precision::f16);
  out.set("precision=bf16", &Contract::precision, Precision::bf16);
  out.set("precision=int8", &Contract::precision, Precision::int8);
  out.set("precision=int4", &Contract::precision, Precision::int4);
  return std::move(out.all);
}

}  // namespace kv::properties
