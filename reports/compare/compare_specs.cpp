// The specs of one results file with each other.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "kvcheck/reports/compare/compared_pairs.h"
#include "kvcheck/reports/numbers/row_names.h"

namespace kv::reports {
namespace {

constexpr std::size_t nothing = static_cast<std::size_t>(-1);

// Specs that are ranked with each other: of one budget, and none that stores more beside one that
// does not.
using Group = std::tuple<bool, std::uint32_t, std::string>;

Group group_of(const MeasuredSpec& spec) {
  return {spec.stores_more, spec.spec.budget, spec.spec.budget_text()};
}

// Makes equal what differs by rounding alone. Caches that keep the same tokens add up in other
// orders, and neither ranks nor tests may read those last digits.
void join_equal(std::vector<std::vector<double>>& values, std::size_t text) {
  constexpr double rounding = 1e-7;  // weights are f32
  std::vector<std::vector<double>*> order;
  for (std::vector<double>& own : values) order.push_back(&own);
  std::ranges::sort(order, {}, [&](const std::vector<double>* own) { return (*own)[text]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double before = (*order[i - 1])[text];
    double& value = (*order[i])[text];
    if (value - before <= rounding * std::abs(value)) value = before;
  }
}

// The values of some specs at the texts that all of them have; NaN elsewhere.
std::vector<std::vector<double>> complete_values(const MeasuredTexts& all,
                                                 const std::vector<std::size_t>& specs) {
  std::vector<std::vector<double>> values;
  for (const std::size_t spec : specs) values.push_back(all.specs[spec].values);
  for (std::size_t text = 0; text < all.texts.size(); ++text) {
    const bool missing = std::ranges::any_of(
        values, [&](const std::vector<double>& own) { return std::isnan(own[text]); });
    if (!missing) {
      join_equal(values, text);
      continue;
    }
    for (std::vector<double>& own : values) own[text] = not_measured;
  }
  return values;
}

// Where specs lose their first token at other queries, their means are over other queries, too: a
// sentence about the first text and the two specs that are farthest apart. Empty if there is none.
std::string other_queries(const MeasuredTexts& all,
                          const std::vector<std::size_t>& members,
                          const std::vector<std::string>& names) {
  for (std::size_t text = 0; text < all.texts.size(); ++text) {
    std::vector<std::size_t> some;
    std::ranges::copy_if(members, std::back_inserter(some), [&](std::size_t i) {
      return text < all.specs[i].first_queries.size() && !std::isnan(all.specs[i].values[text]);
    });
    if (some.size() < 2) continue;
    const auto first = [&](std::size_t i) { return all.specs[i].first_queries[text].target; };
    const auto [early, late] = std::ranges::minmax_element(some, {}, first);
    if (first(*late) - first(*early) < 2) continue;  // one query, as between two timings
    const std::string words =
        "Means begin where each spec first loses a token, which is not the same query";
    const auto of_each = [&](std::size_t i) { return all.specs[i].first_queries[text].of_each; };
    // A mean over streams is no position that a reader could find.
    if (!of_each(*early) || !of_each(*late)) {
      return words + " for " + names[*early] + " and " + names[*late];
    }
    return words + ": " + names[*early] + " at position " + std::to_string(first(*early)) + ", " +
           names[*late] + " at " + std::to_string(first(*late));
  }
  return {};
}

// Ranks of the rows by their values at the texts that all have.
void rank(const Measure& measure,
          const std::vector<std::vector<double>>& values,
          std::span<ComparedSpec> rows) {
  std::vector<std::vector<double>> by_text;
  const double sign = measure.more_is_better ? 1 : -1;
  for (std::size_t text = 0; text < values.front().size(); ++text) {
    if (std::isnan(values.front()[text])) continue;
    std::vector<double>& row = by_text.emplace_back();
    for (std::size_t i = 0; i < rows.size(); ++i) row.push_back(sign * values[i][text]);
  }
  const std::vector<Interval> ranks = rank_intervals(by_text);
  for (std::size_t i = 0; i < ranks.size(); ++i) rows[i].rank = ranks[i];
}

std::map<Group, std::vector<std::size_t>> groups_of(const MeasuredTexts& all) {
  std::map<Group, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < all.specs.size(); ++i) {
    groups[group_of(all.specs[i])].push_back(i);
  }
  return groups;
}

// The spec that the members of a group are compared with; `nothing` if none of the named is it.
std::size_t named_reference(const MeasuredTexts& all,
                            const std::vector<std::size_t>& members,
                            const std::vector<std::string>& against) {
  const auto named = [&](std::size_t i) {
    return std::ranges::find(against, all.specs[i].canonical) != against.end();
  };
  const auto own = std::ranges::find_if(members, named);
  if (own != members.end()) return *own;
  if (against.size() > 1) return nothing;
  for (std::size_t i = 0; i < all.specs.size(); ++i) {
    if (named(i)) return i;
  }
  return nothing;
}

// The specs of one group, best first, and what they are compared with; `nothing` if they are not.
struct Rows {
  std::vector<std::size_t> specs;
  std::size_t reference = nothing;
  bool with_best = false;  // the reference was selected by its values
};

// All groups in the order of tables. Sets comparison.complete.
std::vector<Rows> groups_to_compare(const MeasuredTexts& all, Comparison& comparison) {
  const std::vector<std::string>& against = comparison.options.against;
  const std::size_t complete =
      against.empty() && all.specs.size() > 1 ? complete_cache(all).value_or(nothing) : nothing;
  const bool answers = comparison.measure.in == MeasuredIn::tasks;
  std::vector<Rows> groups;
  for (auto& [group, members] : groups_of(all)) {
    std::ranges::stable_sort(members, {}, [&](std::size_t i) {
      return (comparison.measure.more_is_better ? -1 : 1) * overall(all.specs[i].values);
    });
    Rows& rows = groups.emplace_back(Rows{.specs = std::move(members)});
    if (!against.empty()) {
      rows.reference = named_reference(all, rows.specs, against);
    } else if (complete != nothing && (answers || rows.specs.size() == 1)) {
      rows.reference = complete;
      if (rows.specs.front() != complete) comparison.complete = names_of(all)[complete];
    } else if (rows.specs.size() > 1) {
      rows.reference = rows.specs.front();
      rows.with_best = true;
    }
  }
  // What others are compared with comes first.
  std::stable_partition(groups.begin(), groups.end(), [&](const Rows& rows) {
    return !comparison.complete.empty() &&
           std::ranges::find(rows.specs, complete) != rows.specs.end();
  });
  return groups;
}

// The pairs of a group without its reference: which spec is the best is known from the same texts,
// so that any pair could have been tested.
void add_other_pairs(Family& family,
                     std::size_t first_column,
                     std::size_t ranked,
                     std::size_t reference) {
  for (std::size_t i = 0; i < ranked; ++i) {
    for (std::size_t k = i + 1; k < ranked; ++k) {
      if (i == reference || k == reference) continue;
      family.contrasts.push_back({.of = first_column + i, .against = first_column + k});
    }
  }
}

// Rows of the specs of one group, each compared with its reference.
void add_group(Comparison& comparison,
               Family& family,
               const MeasuredTexts& all,
               const Rows& group) {
  std::vector<std::size_t> members = group.specs;
  const std::size_t other = group.reference;
  const std::size_t ranked = members.size();
  std::size_t reference = 0;  // of `other` among the members
  while (reference < members.size() && members[reference] != other) ++reference;
  if (reference == members.size()) members.push_back(other);
  const auto values = complete_values(all, members);
  const std::size_t first_row = comparison.rows.size();
  const std::size_t first_column = family.columns.size();
  const std::vector<std::string> names = names_of(all);
  const std::string queries = other_queries(all, members, names);
  if (!queries.empty() && comparison.left_out.empty()) comparison.left_out.push_back(queries);
  for (const std::vector<double>& own : values) family.columns.push_back(filled(own));
  for (std::size_t i = 0; i < ranked; ++i) {
    ComparedSpec row = row_of(all.specs[members[i]], names[members[i]]);
    row.mean = overall(values[i]);
    row.same_queries = queries.empty();
    if (i != reference) {
      row.other = names[other];
      const bool elsewhere = reference >= ranked;
      const std::string budget = all.specs[other].spec.budget_text();
      if (elsewhere && budget != "-") row.other += " at " + budget;
      test_pairs(row, values[i], values[reference], comparison);
    }
    if (row.test.pairs > 0) family.of_row.push_back(family.contrasts.size());
    comparison.rows.push_back(std::move(row));
    if (i == reference) continue;
    family.contrasts.push_back({.of = first_column + i, .against = first_column + reference});
  }
  comparison.with_best = comparison.with_best || group.with_best;
  if (group.with_best) add_other_pairs(family, first_column, ranked, reference);
  if (ranked > 1) rank(comparison.measure, values, std::span(comparison.rows).subspan(first_row));
}

// Why nothing can be compared with the named specs: a sentence if none of them has a value, though
// others do; else empty.
std::string why_unmeasured(const MeasuredTexts& all,
                           const Measure& measure,
                           const std::vector<std::string>& against) {
  if (all.specs.empty() && measure.name == "loss_over_dense") return std::string(no_dense);
  const auto named = [&](const MeasuredSpec& spec) {
    return std::ranges::find(against, spec.canonical) != against.end();
  };
  if (against.empty() || all.specs.empty() || std::ranges::any_of(all.specs, named)) return {};
  const auto spec = parse_spec(against.front());
  if (!spec) return {};  // of a policy that is not loaded
  const std::string lacks = row_name(*spec) + " has no value of " + std::string(measure.name);
  if (!measure.once_evicting || spec->bounded() || spec->selects()) return lacks;
  return lacks + ", which begins at the first eviction, because it evicts nothing; " +
         (measure.name == "loss_after"
              ? "use loss, which is over all targets, or --measure loss_over_dense without "
                "--against"
              : "use a policy that evicts");
}

}  // namespace

std::optional<std::size_t> complete_cache(const MeasuredTexts& all) {
  std::vector<std::size_t> found;
  std::vector<std::size_t> plain;
  for (std::size_t i = 0; i < all.specs.size(); ++i) {
    const Spec& spec = all.specs[i].spec;
    if (spec.policy->name != "dense" || spec.selects()) continue;
    found.push_back(i);
    if (!spec.storage) plain.push_back(i);
  }
  const std::vector<std::size_t>& meant = plain.empty() ? found : plain;
  return meant.size() == 1 ? std::optional(meant.front()) : std::nullopt;
}

std::vector<std::string> rivals_among(const std::vector<std::string>& canonicals,
                                      const MeasuredTexts& all) {
  std::map<Group, std::size_t> known;
  for (std::size_t i = 0; i < all.specs.size(); ++i) {
    const MeasuredSpec& spec = all.specs[i];
    if (std::ranges::find(canonicals, spec.canonical) == canonicals.end()) continue;
    const auto [at, added] = known.emplace(group_of(spec), i);
    if (!added) return {names_of(all)[at->second], names_of(all)[i]};
  }
  return {};
}

Comparison compare_specs(const MeasuredTexts& all,
                         const Measure& measure,
                         const CompareOptions& options) {
  Comparison comparison{.measure = measure,
                        .options = options,
                        .margin = options.margin.value_or(usual_margin(measure, all)),
                        .layer = all.layer,
                        .group = all.group,
                        .texts = all.texts.size()};
  const std::string unmeasured = why_unmeasured(all, measure, options.against);
  if (!unmeasured.empty()) {
    comparison.left_out.push_back(unmeasured);
    return comparison;
  }
  const std::vector<std::string> names = names_of(all);
  std::vector<std::string> alone;
  Family family;
  for (const Rows& rows : groups_to_compare(all, comparison)) {
    if (rows.reference != nothing) {
      add_group(comparison, family, all, rows);
      continue;
    }
    for (const std::size_t spec : rows.specs) {
      alone.push_back(named_at_budget(all.specs[spec], names[spec]));
    }
  }
  leave_out(comparison, alone, "spec",
            "not compared, because there is none to compare with at the same budget (caches that "
            "store more are compared apart)");
  find(comparison, family);
  return comparison;
}

}  // namespace kv::reports
