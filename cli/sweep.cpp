#include "cli/sweep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "policies/registry.h"
#include "sim/spec.h"

namespace kv::cli {
namespace {

std::vector<std::string> policy_words(const Sweep& sweep) {
  std::vector<std::string> words;
  for (const std::string& word : sweep.policies) {
    if (word != "all") {
      words.push_back(word);
      continue;
    }
    for (const PolicyEntry& entry : policy_registry()) words.emplace_back(entry.name);
  }
  return words;
}

// `word` at every budget of the sweep.
Result<std::vector<Spec>> specs_of(const std::string& word, const Sweep& sweep) {
  // A policy without a budget would call any that a sweep gives it a mistake.
  const Result<Spec> alone = parse_spec(word, {.budget = 0, .chunk = sweep.chunk});
  if (sweep.budgets.empty() || (alone && !alone->bounded())) {
    if (!alone) return alone.error();
    return std::vector<Spec>{*alone};
  }
  std::vector<Spec> specs;
  for (const std::uint32_t budget : sweep.budgets) {
    Result<Spec> spec = parse_spec(word, {.budget = budget, .chunk = sweep.chunk});
    if (!spec) return spec.error();
    specs.push_back(*std::move(spec));
  }
  return specs;
}

bool draws(const Spec& spec) {
  return std::ranges::find(spec.policy->claims, "deterministic") == spec.policy->claims.end();
}

Error given_twice(const std::string& first, const std::string& again, const std::string& spec) {
  if (first == again) return usage_error("--policy '" + again + "' is given twice");
  return usage_error("--policy '" + first + "' and --policy '" + again + "' are the same: " + spec);
}

}  // namespace

Result<std::vector<Cell>> plan_cells(const Sweep& sweep) {
  std::vector<Cell> cells;
  std::map<std::string, std::string> word_of_spec;
  for (const std::string& word : policy_words(sweep)) {
    const Result<std::vector<Spec>> specs = specs_of(word, sweep);
    if (!specs) return specs.error();
    for (const Spec& spec : *specs) {
      const auto [known, is_new] = word_of_spec.emplace(spec.canonical(), word);
      if (!is_new) return given_twice(known->second, word, known->first);
      const std::size_t seeds = draws(spec) ? sweep.seeds.size() : 1;
      if (cells.size() + seeds > max_cells) {
        return usage_error("policies, budgets and seeds make more than " +
                           std::to_string(max_cells) + " cells; replay them in several runs");
      }
      for (std::size_t i = 0; i < seeds; ++i) cells.push_back({spec, sweep.seeds[i]});
    }
  }
  return cells;
}

Result<void> check_fit(std::span<const Cell> cells, const TraceInfo& trace) {
  for (const Cell& cell : cells) {
    if (cell.spec.budget <= trace.tokens) continue;
    return malformed("budget " + std::to_string(cell.spec.budget) + " is above the " +
                     std::to_string(trace.tokens) + " tokens of '" + trace.name +
                     "': nothing would ever be evicted; use dense, or a smaller budget");
  }
  return {};
}

}  // namespace kv::cli
