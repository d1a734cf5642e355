// Two results files, spec by spec.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "kvcheck/policies/claims.h"
#include "kvcheck/reports/compare/compared_pairs.h"

namespace kv::reports {
namespace {

// The values of one spec in both files, text by text.
class SpecPair {
 public:
  SpecPair(const MeasuredSpec& before, const MeasuredSpec& after)
      : draws_(draws(*after.spec.policy)), before_(before), after_(after) {}

  // Adds a text, which has these places in the two files. Of a policy that draws, those seeds count
  // that both have; all, if they have none in common.
  void add(std::size_t before, std::size_t after) {
    values_before.push_back(before_.values[before]);
    values_after.push_back(after_.values[after]);
    const std::vector<SeedValue>& old = before_.seeds[before];
    const std::vector<SeedValue>& now = after_.seeds[after];
    lost.push_back(!old.empty() && now.empty());
    if (old.empty() || now.empty()) return;
    const bool more_before = !before_.stored_more.empty() && before_.stored_more[before];
    const bool more_after = !after_.stored_more.empty() && after_.stored_more[after];
    grown = grown || (more_after && !more_before);
    shrunk = shrunk || (more_before && !more_after);
    if (!draws_) return;
    SeedMeans common;
    for (const SeedValue& one : old) {
      const auto other = std::ranges::find(now, one.seed, &SeedValue::seed);
      if (other != now.end()) common.add(one.value, other->value);
      if (other == now.end()) lost_seeds.insert(one.seed);
    }
    new_seeds = new_seeds || common.count < now.size();
    same_draws = same_draws && common.count > 0;
    if (common.count == 0) return;
    values_before.back() = common.before / static_cast<double>(common.count);
    values_after.back() = common.after / static_cast<double>(common.count);
  }

  std::vector<double> values_before{};
  std::vector<double> values_after{};
  std::vector<bool> lost{};              // by text: only the first file has a value
  std::set<std::uint64_t> lost_seeds{};  // on some text, in the first file only
  bool new_seeds = false;                // on some text, in the second file only
  bool same_draws = true;                // no: some text has no seed in both
  // On some text with values in both files, the cache stored more than its budget in one of them.
  bool grown = false;   // the second
  bool shrunk = false;  // the first

 private:
  struct SeedMeans {
    double before = 0;
    double after = 0;
    std::size_t count = 0;

    void add(double old, double now) {
      before += old;
      after += now;
      ++count;
    }
  };

  bool draws_;
  const MeasuredSpec& before_;
  const MeasuredSpec& after_;
};

// The places of the texts that both files have, in the order of the first.
struct CommonTexts {
  std::vector<std::size_t> before{};
  std::vector<std::size_t> after{};
};

CommonTexts common_texts(const MeasuredTexts& before, const MeasuredTexts& after) {
  std::map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < after.texts.size(); ++i) known.emplace(after.texts[i], i);
  CommonTexts common;
  for (std::size_t i = 0; i < before.texts.size(); ++i) {
    const auto found = known.find(before.texts[i]);
    if (found == known.end()) continue;
    common.before.push_back(i);
    common.after.push_back(found->second);
  }
  return common;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

// The names in tables, with budgets, of the specs that the others have not.
std::vector<std::string> missing_specs(const MeasuredTexts& some,
                                       const std::vector<std::string>& others) {
  std::vector<std::string> missing;
  const std::vector<std::string> names = names_of(some);
  for (std::size_t i = 0; i < some.specs.size(); ++i) {
    if (!has(others, some.specs[i].canonical)) {
      missing.push_back(named_at_budget(some.specs[i], names[i]));
    }
  }
  return missing;
}

// The names of the texts that the others have not.
std::vector<std::string> missing_texts(const MeasuredTexts& some, const MeasuredTexts& others) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < some.texts.size(); ++i) {
    if (!has(others.texts, some.texts[i])) missing.push_back(some.names[i]);
  }
  return missing;
}

std::vector<std::string> canonicals_of(const MeasuredTexts& all) {
  std::vector<std::string> names;
  for (const MeasuredSpec& spec : all.specs) names.push_back(spec.canonical);
  return names;
}

// Says that the models of the two files differ, which may be why texts are in one file only.
void compare_models(const MeasuredTexts& before,
                    const MeasuredTexts& after,
                    Comparison& comparison) {
  const auto known = [](const MeasuredTexts& all, bool with_bytes) {
    std::set<std::pair<std::uint64_t, std::size_t>> weights;
    for (const MeasuredModel& model : all.models) {
      weights.emplace(model.weights, with_bytes ? model.bytes : 0);
    }
    return weights;
  };
  if (before.models.empty() || after.models.empty()) return;
  if (known(before, false) != known(after, false)) {
    comparison.left_out.emplace_back("The weights of the models in the two files are not the same");
  } else if (known(before, true) != known(after, true)) {
    comparison.left_out.emplace_back(
        "The two files store the weights of the models as other types, since they take another "
        "number of bytes");
  }
}

// What only one of the files has of the specs that both have.
struct Gaps {
  std::vector<std::string> lost{};         // a spec on a text, in the first file only
  std::vector<std::string> lost_seeds{};   // specs, with the seeds
  std::vector<std::string> new_seeds{};    // specs
  std::vector<std::string> other_draws{};  // specs
  std::vector<std::string> grown{};        // specs that store more than their budget now
  std::vector<std::string> shrunk{};       // specs that did before
};

std::string with_seeds(const std::string& name, const std::set<std::uint64_t>& seeds) {
  constexpr std::size_t most = 3;
  std::string list;
  for (const std::uint64_t seed : seeds) {
    if (list.size() > 0 && static_cast<std::size_t>(std::ranges::count(list, ',')) + 1 == most) {
      return name + " (seeds " + list + ", ...)";
    }
    list += (list.empty() ? "" : ", ") + std::to_string(seed);
  }
  return name + (seeds.size() == 1 ? " (seed " : " (seeds ") + list + ")";
}

void say_gaps(const Gaps& gaps, Comparison& comparison) {
  lose(comparison, gaps.lost, "value", "in the first file only");
  lose(comparison, gaps.lost_seeds, "spec", "without seeds of the first file in the second");
  leave_out(comparison, gaps.new_seeds, "spec",
            "measured with more seeds in the second file, which do not count");
  leave_out(comparison, gaps.other_draws, "spec",
            "without a common seed on some text, so that the draws differ, too");
  leave_out(comparison, gaps.grown, "spec",
            "above the budget in the second file only, on some text");
  if (!gaps.grown.empty()) comparison.grown = comparison.left_out.back();
  leave_out(comparison, gaps.shrunk, "spec",
            "above the budget in the first file only, on some text");
}

// Adds a row for each spec that has values in both files, on the texts that both have.
Family pair_specs(const MeasuredTexts& before, const MeasuredTexts& after, Comparison& comparison) {
  const CommonTexts texts = common_texts(before, after);
  comparison.texts = texts.before.size();
  const auto old_specs = canonicals_of(before);
  const std::vector<std::string> names = names_of(after);
  Gaps gaps;
  Family family;
  for (std::size_t i = 0; i < after.specs.size(); ++i) {
    const auto old = std::ranges::find(old_specs, after.specs[i].canonical) - old_specs.begin();
    if (static_cast<std::size_t>(old) == old_specs.size()) continue;
    SpecPair pair(before.specs[static_cast<std::size_t>(old)], after.specs[i]);
    for (std::size_t k = 0; k < texts.before.size(); ++k) pair.add(texts.before[k], texts.after[k]);
    const std::string name = named_at_budget(after.specs[i], names[i]);
    for (std::size_t k = 0; k < texts.before.size(); ++k) {
      if (pair.lost[k]) gaps.lost.push_back(name + " on " + before.names[texts.before[k]]);
    }
    if (!pair.lost_seeds.empty()) gaps.lost_seeds.push_back(with_seeds(name, pair.lost_seeds));
    if (pair.new_seeds && pair.same_draws) gaps.new_seeds.push_back(name);
    if (!pair.same_draws) gaps.other_draws.push_back(name);
    if (pair.grown) gaps.grown.push_back(name);
    if (pair.shrunk) gaps.shrunk.push_back(name);
    comparison.rows.push_back(row_of(after.specs[i], names[i]));
    comparison.rows.back().same_draws = pair.same_draws;
    comparison.rows.back().grown = pair.grown;
    family.columns.push_back(filled(
        test_pairs(comparison.rows.back(), pair.values_after, pair.values_before, comparison)));
    if (comparison.rows.back().test.pairs == 0) {
      comparison.rows.pop_back();
      family.columns.pop_back();
      continue;
    }
    family.of_row.push_back(family.contrasts.size());
    family.contrasts.push_back({.of = family.columns.size() - 1});
  }
  say_gaps(gaps, comparison);
  return family;
}

}  // namespace

bool Comparison::worse(const ComparedSpec& row) const {
  if (row.grown) return true;
  const bool lower = row.mean < row.other_mean;
  if (row.finding == Finding::few) {
    // Other draws alone may make such a difference.
    if (!row.same_draws) return false;
    return lower == measure.more_is_better && std::abs(row.mean - row.other_mean) > margin;
  }
  return row.finding == (measure.more_is_better ? Finding::lower : Finding::higher);
}

bool any_worse(std::span<const Comparison> comparisons) {
  return std::ranges::any_of(comparisons, [](const Comparison& one) {
    return one.files &&
           std::ranges::any_of(one.rows, [&](const ComparedSpec& row) { return one.worse(row); });
  });
}

Comparison compare_files(const MeasuredTexts& before,
                         const MeasuredTexts& after,
                         const Measure& measure,
                         const CompareOptions& options) {
  Comparison comparison{.measure = measure,
                        .options = options,
                        .margin = options.margin.value_or(usual_margin(measure, before)),
                        .layer = after.layer,
                        .group = after.group,
                        .files = true};
  if ((before.specs.empty() || after.specs.empty()) && measure.name == "loss_over_dense") {
    const std::string file = before.specs.empty() ? "first" : "second";
    comparison.left_out.push_back(std::string(no_dense) + ", which the " + file +
                                  " file does not have");
    if (!before.specs.empty()) comparison.lost.push_back(comparison.left_out.back());
    return comparison;
  }
  compare_models(before, after, comparison);
  const std::string_view units = measure.units();
  const std::string unit(units.substr(0, units.size() - 1));  // "text" of "texts"
  lose(comparison, missing_texts(before, after), unit, "in the first file only");
  leave_out(comparison, missing_texts(after, before), unit, "in the second file only");
  lose(comparison, missing_specs(before, canonicals_of(after)), "spec", "in the first file only");
  leave_out(comparison, missing_specs(after, canonicals_of(before)), "spec",
            "in the second file only");
  find(comparison, pair_specs(before, after, comparison));
  return comparison;
}

}  // namespace kv::reports
