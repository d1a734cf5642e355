#include "kvcheck/sim/spec/budgets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

constexpr std::array<std::string_view, 4> words = {"equal", "pyramid:BETA",
                                                   "retrieval:LAYER.HEAD+...", "adaptive:ALPHA"};
constexpr std::array<std::string_view, 4> laws = {"equal", "pyramid", "retrieval", "adaptive"};

constexpr std::uint32_t largest_beta = 1000;
constexpr std::uint32_t largest_number = 65535;  // of a layer or head
constexpr std::uint32_t whole = 1000;            // alpha in thousandths

Result<KvHead> parse_head(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    return usage_error("'" + std::string(text) +
                       "' is not a kv-head; expected its layer and number, as in 0.1");
  }
  const auto layer = parse_count(text.substr(0, dot), "the layer of a head", 0, largest_number);
  if (!layer) return layer.error();
  const auto head = parse_count(text.substr(dot + 1), "the number of a head", 0, largest_number);
  if (!head) return head.error();
  return KvHead{static_cast<std::uint32_t>(*layer), static_cast<std::uint32_t>(*head)};
}

std::string text_of(const KvHead& head) {
  return std::to_string(head.layer) + "." + std::to_string(head.head);
}

Result<Budgets> parse_retrieval(std::string_view list) {
  Budgets budgets{.law = Budgets::Law::retrieval};
  for (const std::string_view word : split(list, '+')) {
    const auto head = parse_head(word);
    if (!head) return head.error();
    budgets.retrieval.push_back(*head);
  }
  // Sorted, so that equal sets are equal values and unit_spec can search them.
  std::ranges::sort(budgets.retrieval);
  const auto twice = std::ranges::adjacent_find(budgets.retrieval);
  if (twice == budgets.retrieval.end()) return budgets;
  return usage_error("budgets=retrieval names the kv-head " + text_of(*twice) + " twice");
}

// Stored in thousandths, so that floor(alpha m) is exact for the number as written.
Result<Budgets> parse_adaptive(std::string_view text) {
  const auto alpha = parse_real(text, "the alpha of budgets=adaptive", 0, 1);
  if (!alpha) return alpha.error();
  const double thousandths = std::round(*alpha * whole);
  if (std::abs(*alpha * whole - thousandths) > 1e-6) {
    return usage_error("the alpha of budgets=adaptive is " + std::string(text) +
                       "; expected at most three decimals, as in adaptive:0.125");
  }
  return Budgets{.law = Budgets::Law::adaptive, .alpha = static_cast<std::uint32_t>(thousandths)};
}

// Why the spec's policy has no scores that compare. Names the options if it would by default.
std::string without_scores(const Spec& spec) {
  const std::string policy(spec.policy->name);
  const bool by_default = spec.policy->make(Options(spec.policy->parameters))->scores_compare();
  if (!by_default) return policy + " has no comparable scores";
  std::string options;
  for (const Parameter& parameter : spec.policy->parameters) {
    const std::string& value = spec.options.at(parameter.name);
    if (value == parameter.default_value) continue;
    options += (options.empty() ? "" : ",") + std::string(parameter.name) + "=" + value;
  }
  return policy + " with " + options + " has no comparable scores, which it has by default";
}

// The policies whose scores compare, for errors.
std::string comparing_policies() {
  std::string names;
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.make(Options(entry.parameters))->scores_compare()) continue;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

}  // namespace

std::string Budgets::text() const {
  std::string out(laws[static_cast<std::size_t>(law)]);
  if (law == Law::pyramid) out += ":" + std::to_string(beta);
  if (law == Law::adaptive) out += ":" + shortest(static_cast<double>(alpha) / whole);
  if (law == Law::retrieval) {
    char before = ':';
    for (const KvHead& head : retrieval) {
      out += before + text_of(head);
      before = '+';
    }
  }
  return out;
}

Result<Budgets> parse_budgets(std::string_view word) {
  if (word == "equal") return Budgets();
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : word.substr(colon + 1);
  if (name == "pyramid" && !rest.empty()) {
    const auto beta = parse_count(rest, "the beta of budgets=pyramid", 1, largest_beta);
    if (!beta) return beta.error();
    return Budgets{.law = Budgets::Law::pyramid, .beta = static_cast<std::uint32_t>(*beta)};
  }
  if (name == "retrieval" && !rest.empty()) return parse_retrieval(rest);
  if (name == "adaptive" && !rest.empty()) return parse_adaptive(rest);
  if (name == "pyramid") {
    return usage_error(
        "budgets=pyramid does not state its beta; expected how steep it is, as in pyramid:20");
  }
  if (name == "retrieval") {
    return usage_error(
        "budgets=retrieval names no kv-head; expected some, as in retrieval:0.1+2.0");
  }
  if (name == "adaptive") {
    return usage_error(
        "budgets=adaptive does not state its alpha; expected the least share of each head, as in "
        "adaptive:0.2");
  }
  return usage_error(unknown_word("budgets", word, words));
}

Result<void> check_budgets(const Spec& spec) {
  if (spec.budgets.law == Budgets::Law::equal) return {};
  const std::string what =
      "budgets=" + std::string(laws[static_cast<std::size_t>(spec.budgets.law)]);
  const std::string policy(spec.policy->name);
  const bool pyramid = spec.budgets.law == Budgets::Law::pyramid;
  if (!spec.bounded()) {
    return usage_error(what + " needs a budget, and " + policy + " has none: it keeps everything");
  }
  const bool shared = spec.budgets.shared();
  if ((pyramid || shared) && spec.policy->protection.middle != Protection::Middle::some) {
    return usage_error(what + " divides the middle between " + (pyramid ? "layers" : "heads") +
                       ", and " + policy + " has none");
  }
  if (shared && !spec.policy->make(spec.options)->scores_compare()) {
    return usage_error(what + " compares scores across heads, and " + without_scores(spec) +
                       "; policies with comparable scores are " + comparing_policies());
  }
  if (spec.unit == Unit::model || (!pyramid && spec.unit == Unit::layer)) {
    return usage_error(what + " gives " + (pyramid ? "layers" : "heads") +
                       " budgets of their own, which unit=" + std::string(name_of(spec.unit)) +
                       " cannot; expected unit=kv-head, unit=head" +
                       (pyramid ? " or unit=layer" : ""));
  }
  if (spec.vectors == Vectors::kept) return {};
  return usage_error(what +
                     " keeps other residents in every unit, and vectors=re-evaluated feeds "
                     "the residents again as one text; expected vectors=kept");
}

Result<void> check_grid(const Spec& spec, const HeadGrid& grid) {
  for (const KvHead& head : spec.budgets.retrieval) {
    if (head.layer < grid.layers && head.head < grid.kv_heads) continue;
    return usage_error("budgets=retrieval names the kv-head " + text_of(head) + ", but there are " +
                       std::to_string(grid.layers) + " layers of " + std::to_string(grid.kv_heads) +
                       " kv-heads; expected 0.0 to " + std::to_string(grid.layers - 1) + "." +
                       std::to_string(grid.kv_heads - 1));
  }
  // A unit without any row would have no budget, and keep everything.
  const bool known = spec.budgets.law == Budgets::Law::pyramid && spec.budget > 0;
  if (!known || spec.sinks + spec.recent > 0) return {};
  const auto shares = pyramid(spec.middle(), spec.budgets.beta, grid.layers);
  if (std::ranges::find(shares, 0U) == shares.end()) return {};
  return usage_error("budgets=" + spec.budgets.text() + " leaves some of " +
                     std::to_string(grid.layers) + " layers no row of a budget of " +
                     std::to_string(spec.budget) +
                     " without sinks and recent tokens; expected a larger budget");
}

std::vector<std::uint32_t> pyramid(std::uint32_t total, std::uint32_t beta, std::size_t layers) {
  KV_CHECK(beta >= 1 && beta <= largest_beta && layers >= 1 && layers <= largest_number + 1);
  if (layers == 1) return {total};
  // Shares are integer fractions over one denominator, so that no rounding of doubles can move a
  // token.
  const std::uint64_t steps = layers - 1;
  const std::uint64_t denominator = beta * steps;
  std::vector<std::uint32_t> shares(layers);
  std::vector<std::uint64_t> lost(layers);
  std::uint64_t left = std::uint64_t{total} * layers;
  for (std::uint64_t l = 0; l < layers; ++l) {
    const std::uint64_t numerator = total * ((2ULL * beta - 1) * steps - 2 * l * (beta - 1));
    shares[l] = static_cast<std::uint32_t>(numerator / denominator);
    lost[l] = numerator % denominator;
    left -= shares[l];
  }
  std::vector<std::size_t> order(layers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Stable, so that among equal losses the lowest layer comes first.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
  for (std::uint64_t i = 0; i < left; ++i) ++shares[order[i]];
  return shares;
}

std::uint32_t adaptive_floor(const Spec& spec) {
  return static_cast<std::uint32_t>(std::uint64_t{spec.middle()} * spec.budgets.alpha / whole);
}

std::uint32_t adaptive_most(const Spec& spec, const HeadGrid& grid) {
  const std::uint64_t units = grid.kv_heads * (spec.unit == Unit::head ? grid.group : 1);
  const std::uint64_t most = units * spec.middle() - (units - 1) * adaptive_floor(spec);
  constexpr std::uint64_t largest = 0x7fffffff;  // of a budget
  return static_cast<std::uint32_t>(std::min(most, largest - spec.sinks - spec.recent));
}

Spec unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit) {
  Spec own = spec;
  if (spec.unit != Unit::model) own.layer = {unit.layer, grid.layers};
  if (spec.budgets.shared()) return own;
  own.budgets = Budgets();
  if (own.selects() && unit.layer < own.top_pages.dense_layers) {
    own.visibility = Visibility::causal;
    own.top_pages = TopPages();
  }
  if (spec.budgets.law == Budgets::Law::pyramid) {
    const auto shares = pyramid(spec.middle(), spec.budgets.beta, grid.layers);
    own.budget = spec.sinks + spec.recent + shares.at(unit.layer);
  } else if (std::ranges::binary_search(spec.budgets.retrieval, unit)) {
    own.policy = find_policy("dense");
    own.options = Options(own.policy->parameters);
    own.sinks = own.recent = own.budget = 0;
    own.phases = Phases();
  }
  return own;
}

Spec roomiest_unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit) {
  Spec own = unit_spec(spec, grid, unit);
  if (spec.budgets.shared()) own.budget = spec.sinks + spec.recent + adaptive_most(spec, grid);
  return own;
}

}  // namespace kv
