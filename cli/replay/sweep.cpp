#include "kvcheck/cli/replay/sweep.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

constexpr std::string_view all_policies = "all";

struct PolicyWord {
  std::string text;
  bool from_all = false;
};

Result<std::vector<PolicyWord>> policy_words(const Sweep& sweep) {
  std::vector<PolicyWord> arguments;
  if (std::ranges::count(sweep.policies, all_policies) > 1) {
    return usage_error("--policy all is given twice");
  }
  for (const std::string& word : sweep.policies) {
    if (word != all_policies) {
      arguments.push_back({word});
      continue;
    }
    for (const PolicyEntry& entry : policy_registry()) {
      arguments.push_back({std::string(entry.name), true});
    }
  }
  return arguments;
}

// What to give instead of several budgets to a preset that has one of its own. Requires several.
Error one_for_each_budget(const std::string& preset, const Spec& own, const Sweep& sweep) {
  std::vector<std::string> budgets;
  for (const std::uint32_t budget : sweep.budgets) budgets.push_back(std::to_string(budget));
  const auto at = [&](std::size_t i) {
    return "--policy '" + preset + ":budget=" + budgets[i] + "'";
  };
  return usage_error("'" + preset + "' has a budget of its own, " + own.budget_text() +
                     ", but --budget asks for " + join(budgets, ",") +
                     "; leave out --budget, and give the preset once for each, as in " + at(0) +
                     " " + at(1));
}

// `word` at every budget of the sweep.
Result<std::vector<Spec>> specs_of(const std::string& word, const Sweep& sweep) {
  // A policy without a budget would refuse the one that the sweep adds.
  const Result<Spec> alone = parse_spec(word, {.budget = 0, .chunk = sweep.chunk});
  const bool has_its_own =
      alone && (!alone->bounded() || (sweep.budgets_are_taken && !leaves_budget_open(word)));
  if (sweep.budgets.empty() || has_its_own) {
    if (!alone) return alone.error();
    return std::vector<Spec>{*alone};
  }
  std::vector<Spec> specs;
  for (const std::uint32_t budget : sweep.budgets) {
    Result<Spec> spec = parse_spec(word, {.budget = budget, .chunk = sweep.chunk});
    if (!spec) {
      // With fields or settings the preset is the user's own, as the usual sentence says.
      const bool plain = word.starts_with('@') && word.find_first_of(":;") == std::string::npos;
      const bool several = sweep.budgets.size() > 1 && alone && !leaves_budget_open(word);
      return plain && several ? one_for_each_budget(word, *alone, sweep) : spec.error();
    }
    specs.push_back(*std::move(spec));
  }
  return specs;
}

std::string described(const PolicyWord& word) {
  return word.from_all ? "the '" + word.text + "' of --policy all" : "--policy '" + word.text + "'";
}

Error given_twice(const PolicyWord& first, const PolicyWord& again, const std::string& spec) {
  if (first.text == again.text && !first.from_all && !again.from_all) {
    return usage_error(described(again) + " is given twice");
  }
  return usage_error(described(first) + " and " + described(again) + " are the same: " + spec);
}

// The cells of one argument; `known` maps every earlier canonical spec to its argument.
Result<void> add_cells(const PolicyWord& word,
                       const Sweep& sweep,
                       std::map<std::string, PolicyWord>& known,
                       std::vector<PlannedCell>& cells) {
  const Result<std::vector<Spec>> specs = specs_of(word.text, sweep);
  if (!specs) {
    if (!word.from_all) return specs.error();
    return usage_error("--policy all: " + specs.error().message);
  }
  const bool default_budget = sweep.budgets.empty() && leaves_budget_open(word.text);
  for (const Spec& spec : *specs) {
    const auto [before, is_new] = known.emplace(spec.canonical(), word);
    if (!is_new) return given_twice(before->second, word, before->first);
    if (Result<void> made = check_maker(*spec.policy, spec.options); !made) return made;
    const std::size_t seeds = draws(*spec.policy) ? sweep.seeds.size() : 1;
    if (cells.size() + seeds > max_cells) {
      return usage_error("policies, budgets and seeds make more than " + std::to_string(max_cells) +
                         " cells; replay them in several runs");
    }
    for (std::size_t i = 0; i < seeds; ++i) {
      cells.push_back({.cell = {spec, sweep.seeds[i]},
                       .default_budget = default_budget,
                       .from_all = word.from_all});
    }
  }
  return {};
}

}  // namespace

bool Sweep::takes_budgets() const {
  return std::ranges::any_of(policies, [](const std::string& word) {
    return word == all_policies || (parse_spec(word) && leaves_budget_open(word));
  });
}

Result<std::vector<PlannedCell>> plan_cells(Sweep sweep) {
  const Result<std::vector<PolicyWord>> arguments = policy_words(sweep);
  if (!arguments) return arguments.error();
  sweep.budgets_are_taken = sweep.budgets_are_taken || sweep.takes_budgets();
  std::map<std::string, PolicyWord> known;
  std::vector<PlannedCell> cells;
  for (const PolicyWord& word : *arguments) {
    if (Result<void> added = add_cells(word, sweep, known, cells); !added) return added.error();
  }
  return cells;
}

Result<std::vector<std::string>> unserved(std::span<const PlannedCell> cells, const Trace& trace) {
  std::vector<std::string> names;
  std::size_t left = cells.size();
  for (const PlannedCell& planned : cells) {
    const Result<void> served = check_serves(trace, planned.cell.spec);
    if (served) continue;
    if (!planned.from_all || --left == 0) return served.error();
    const std::string name(planned.cell.spec.policy->name);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

namespace {

Result<void> check_choice(const Spec& spec, const TraceInfo& trace) {
  if (spec.top_pages.attended <= trace.tokens) return {};
  return malformed("visibility=" + spec.visibility_text() + " attends to more than the " +
                   std::to_string(trace.tokens) + " tokens of '" + trace.name +
                   "': no token would ever be left out; use dense, or attend to fewer, as "
                   "in visibility=top-pages:64/16/2");
}

}  // namespace

bool fits(const Spec& spec, const TraceInfo& trace) {
  const std::size_t least = spec.selects() ? spec.top_pages.attended : spec.budget;
  return least <= trace.tokens;
}

bool fits_any(std::span<const PlannedCell> cells, const TraceInfo& trace) {
  bool evicts = false;
  for (const PlannedCell& planned : cells) {
    const Spec& spec = planned.cell.spec;
    if (!spec.bounded() && !spec.selects()) continue;
    evicts = true;
    if (fits(spec, trace)) return true;
  }
  return !evicts;
}

std::string left_out_words(std::span<const PlannedCell> cells, const TraceInfo& trace) {
  std::set<std::uint32_t> budgets;
  std::set<std::string> choices;  // specs of pages, which have no budget
  for (const PlannedCell& planned : cells) {
    const Spec& spec = planned.cell.spec;
    if (fits(spec, trace)) continue;
    if (spec.selects()) {
      choices.insert(spec.label());
    } else {
      budgets.insert(spec.budget);
    }
  }
  if (budgets.empty() && choices.empty()) return "";
  std::vector<std::string> words;
  for (const std::uint32_t budget : budgets) words.push_back(std::to_string(budget));
  std::vector<std::string> parts(choices.begin(), choices.end());
  if (!budgets.empty()) {
    parts.insert(parts.begin(), (budgets.size() == 1 ? "budget " : "budgets ") + join(words, ", "));
  }
  const std::string what = join(parts, ", ");
  const std::string tokens = "its " + std::to_string(trace.tokens) + " tokens";
  if (fits_any(cells, trace)) {
    return "'" + trace.name + "' is replayed without " + what + ", above " + tokens;
  }
  return "'" + trace.name + "' is left out: " + what +
         (budgets.size() + choices.size() == 1 ? " is" : " are") + " above " + tokens;
}

Result<void> check_fit(std::span<const PlannedCell> cells, const TraceInfo& trace) {
  for (const PlannedCell& planned : cells) {
    if (planned.cell.spec.selects()) {
      if (Result<void> fits = check_choice(planned.cell.spec, trace); !fits) return fits;
    }
    const std::uint32_t budget = planned.cell.spec.budget;
    if (budget <= trace.tokens) continue;
    return malformed("budget " + std::to_string(budget) +
                     (planned.default_budget ? " (the default without --budget)" : "") +
                     " is above the " + std::to_string(trace.tokens) + " tokens of '" + trace.name +
                     "': no token would ever be evicted; use dense, or a smaller " +
                     (planned.default_budget ? "number in --budget" : "budget"));
  }
  return {};
}

}  // namespace kv::cli
