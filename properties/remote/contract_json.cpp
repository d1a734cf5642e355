#include "kvcheck/properties/remote/contract_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/properties/family.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/sim/spec/phases.h"

namespace kv::properties {
namespace {

constexpr std::array<std::string_view, 3> timings = {"attend-then-trim", "trim-then-attend",
                                                     "lazy"};
constexpr std::array<std::string_view, 3> visibilities = {"causal", "window", "top-pages"};
constexpr std::array<std::string_view, 4> modes = {"absolute", "in-cache", "shifted", "untold"};
constexpr std::array<std::string_view, 4> units = {"head", "kv-head", "layer", "model"};
constexpr std::array<std::string_view, 3> compressions = {"always", "prompt+grow", "prompt+hold"};
constexpr std::array<std::string_view, 5> precisions = {"f32", "f16", "bf16", "int8", "int4"};

template <typename Enum>
std::string_view word_in(std::span<const std::string_view> words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

// The enumerator whose word the field holds; complains of others.
template <typename Enum>
void read_word(const JsonAt& at,
               std::string_view name,
               std::span<const std::string_view> words,
               Enum& value) {
  const auto field = at.find(name);
  if (!field) return;
  const std::string word = field->text("a word");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != word) continue;
    value = static_cast<Enum>(i);
    return;
  }
  if (field->is_string()) field->complain(unknown_word(name, word, words));
}

void read_flag(const JsonAt& at, std::string_view name, bool& value) {
  if (const auto field = at.find(name)) value = field->boolean("a flag");
}

// A count, or "any" for all of them.
void read_depth(const JsonAt& at, std::string_view name, std::uint32_t& value) {
  const auto depth = at.find(name);
  if (!depth || !depth->is_string()) return set_size(at, name, value);
  value = any_depth;
  if (depth->text("a depth") != "any") depth->expected("a whole number or \"any\"");
}

void add_depth(std::string_view name, std::uint32_t value, JsonObject& object) {
  if (value == any_depth) {
    object.add(name, "any");
  } else {
    object.add(name, std::uint64_t{value});
  }
}

void read_sizes(const JsonAt& at, Contract& contract) {
  set_size(at, "sinks", contract.sinks);
  set_size(at, "recent", contract.recent);
  set_size(at, "budget", contract.budget);
  set_size(at, "mean_budget", contract.mean_budget);
  set_size(at, "slack", contract.slack);
  set_size(at, "page", contract.page);
  set_size(at, "longest_chunk", contract.longest_chunk);
  set_size(at, "full_precision_recent", contract.full_precision_recent);
  set_size(at, "full_precision_sinks", contract.full_precision_sinks);
  if (contract.page == 0) at.complain("page must be at least 1");
  TopPages& selected = contract.top_pages;
  set_size(at, "attended", selected.attended);
  set_size(at, "attended_page", selected.page);
  set_size(at, "dense_layers", selected.dense_layers);
  if (selected.page == 0 || selected.attended == 0 || selected.attended % selected.page != 0) {
    at.complain("attended must be a multiple of attended_page, and neither 0");
    selected = TopPages();
  }
  read_depth(at, "rollback", contract.rollback);
  read_depth(at, "first_chunk", contract.first_chunk);
  read_depth(at, "largest_budget", contract.largest_budget);
}

// A share in thousandths, as a number from 0 to 1.
void read_ratio(const JsonAt& at, Contract& contract) {
  const auto ratio = at.find("ratio");
  if (!ratio) return;
  const double given = ratio->number("a share of the prompt") * 1000;
  const double thousandths = std::round(given);
  if (given >= 0 && given <= 1000 && std::abs(given - thousandths) < 1e-6) {
    contract.ratio = static_cast<std::uint32_t>(thousandths);
  } else {
    ratio->expected("a share of the prompt from 0 to 1 with at most three decimals");
  }
}

// One number for each layer, or for each unit of each layer.
void read_budgets(const JsonAt& at, const Setup& setup, Contract& contract) {
  const auto list = at.find("budgets");
  if (!list) return;
  const std::size_t in_layer = Heads{setup, contract.unit}.in_layer();
  const std::size_t all = setup.layers * in_layer;
  const std::size_t size = list->size("a list of budgets");
  if (size == 0) return;
  if (size != setup.layers && size != all) {
    list->complain("budgets holds " + std::to_string(size) + " numbers; expected one for each of " +
                   std::to_string(setup.layers) + " layers, or for each of " + std::to_string(all) +
                   " units");
    return;
  }
  std::vector<std::uint32_t> budgets;
  for (std::size_t i = 0; i < size; ++i) {
    const auto own = static_cast<std::uint32_t>((*list)[i].integer("a whole number", 0, most_size));
    budgets.insert(budgets.end(), all / size, own);
  }
  contract.set_budgets(std::move(budgets));
}

// For each layer the one whose rows it attends to.
void read_rows_from(const JsonAt& at, const Setup& setup, Contract& contract) {
  const auto list = at.find("rows_from");
  if (!list) return;
  const std::size_t size = list->size("a list of layers");
  if (size == 0) return;
  if (size != setup.layers) {
    list->complain("rows_from holds " + std::to_string(size) +
                   " numbers; expected one for each of " + std::to_string(setup.layers) +
                   " layers");
    return;
  }
  std::vector<std::uint32_t> owners;
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t owner = (*list)[i].integer("the number of a layer", 0, setup.layers - 1);
    owners.push_back(static_cast<std::uint32_t>(owner));
  }
  if (const std::string wrong = wrong_owners(owners); !wrong.empty()) {
    list->complain("rows_from " + wrong);
    return;
  }
  contract.set_rows_from(std::move(owners));
}

void read_words(const JsonAt& at, Contract& contract) {
  if (const auto own = at.find("name")) contract.name = own->text("a name");
  if (const auto spec = at.find("reference")) contract.reference = spec->text("a spec");
  read_word(at, "timing", timings, contract.timing);
  read_word(at, "compress", compressions, contract.compress);
  read_word(at, "visibility", visibilities, contract.visibility);
  read_word(at, "positions", modes, contract.positions);
  read_word(at, "unit", units, contract.unit);
  read_word(at, "precision", precisions, contract.precision);
  const auto claims = at.find("claims");
  if (!claims) return;
  for (std::size_t i = 0; i < claims->size("a list of claims"); ++i) {
    const std::string claim((*claims)[i].text("a claim"));
    contract.claims.insert(claim);
    if (const std::string wrong = wrong_claim(claim); !wrong.empty()) {
      (*claims)[i].complain(wrong);
    }
  }
}

}  // namespace

std::string contract_json(const Contract& contract) {
  const auto count = [](std::uint32_t value) { return std::uint64_t{value}; };
  JsonObject object;
  object.add("name", contract.name)
      .add("sinks", count(contract.sinks))
      .add("recent", count(contract.recent))
      .add("budget", count(contract.budget))
      .add("compress", word_in(compressions, contract.compress))
      .add_raw("ratio", ratio_text(contract.ratio))
      .add("timing", word_in(timings, contract.timing))
      .add("slack", count(contract.slack))
      .add("visibility", word_in(visibilities, contract.visibility))
      .add("attended", count(contract.top_pages.attended))
      .add("attended_page", count(contract.top_pages.page))
      .add("dense_layers", count(contract.top_pages.dense_layers))
      .add("positions", word_in(modes, contract.positions))
      .add("unit", word_in(units, contract.unit))
      .add("page", count(contract.page))
      .add("pinned_first_page", contract.pinned_first_page)
      .add("shows_pages", contract.shows_pages)
      .add("unordered", contract.unordered)
      .add("masks_instead", contract.masks_evicted)
      .add("self_may_go", contract.may_evict_newest)
      .add("random", contract.random)
      .add("keeps_fewer", contract.keeps_fewer)
      .add("evicts_ahead", contract.evicts_ahead)
      .add("longest_chunk", count(contract.longest_chunk));
  add_depth("first_chunk", contract.first_chunk, object);
  add_depth("rollback", contract.rollback, object);
  add_depth("largest_budget", contract.largest_budget, object);
  return object.add("mean_budget", count(contract.mean_budget))
      .add_raw("budgets", json_list(contract.budgets, [](auto own) { return std::to_string(own); }))
      .add("windows", contract.windows)
      .add_raw("rows_from",
               json_list(contract.rows_from, [](auto layer) { return std::to_string(layer); }))
      .add("shifts", contract.shifts)
      .add("precision", word_in(precisions, contract.precision))
      .add("full_precision_recent", count(contract.full_precision_recent))
      .add("full_precision_sinks", count(contract.full_precision_sinks))
      .add("wants_attention", contract.wants_attention)
      .add_raw("claims", json_list(contract.claims, json_string))
      .add("reference", contract.reference)
      .text();
}

Contract read_contract(const JsonAt& at, const Setup& setup, const std::string& name) {
  at.only_ever({"name",
                "sinks",
                "recent",
                "budget",
                "largest_budget",
                "mean_budget",
                "budgets",
                "windows",
                "rows_from",
                "compress",
                "ratio",
                "timing",
                "slack",
                "visibility",
                "attended",
                "attended_page",
                "dense_layers",
                "positions",
                "unit",
                "page",
                "pinned_first_page",
                "shows_pages",
                "unordered",
                "masks_instead",
                "self_may_go",
                "random",
                "keeps_fewer",
                "evicts_ahead",
                "longest_chunk",
                "first_chunk",
                "rollback",
                "shifts",
                "precision",
                "full_precision_recent",
                "full_precision_sinks",
                "wants_attention",
                "claims",
                "reference"});
  Contract contract = strictest(name, setup);
  read_sizes(at, contract);
  read_ratio(at, contract);
  read_words(at, contract);
  read_budgets(at, setup, contract);
  read_rows_from(at, setup, contract);
  read_flag(at, "windows", contract.windows);
  read_flag(at, "evicts_ahead", contract.evicts_ahead);
  read_flag(at, "pinned_first_page", contract.pinned_first_page);
  read_flag(at, "shows_pages", contract.shows_pages);
  read_flag(at, "unordered", contract.unordered);
  read_flag(at, "masks_instead", contract.masks_evicted);
  read_flag(at, "self_may_go", contract.may_evict_newest);
  read_flag(at, "random", contract.random);
  read_flag(at, "keeps_fewer", contract.keeps_fewer);
  read_flag(at, "shifts", contract.shifts);
  read_flag(at, "wants_attention", contract.wants_attention);
  return contract;
}

}  // namespace kv::properties
