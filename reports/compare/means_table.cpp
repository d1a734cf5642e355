#include "kvcheck/reports/compare/means_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/bootstrap.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/numbers/statistics.h"

namespace kv::reports {
namespace {

// The few best specs, whose differences are what a reader selects by.
constexpr std::size_t best = 12;

struct MeansRow {
  Spec spec;
  std::string canonical;
  bool stores_more = false;
  std::vector<Interval> means{};     // by measure; NaN where nothing was measured
  std::vector<std::size_t> texts{};  // by measure, those with a value
};

bool precedes(const MeansRow& a, const MeansRow& b, bool more_is_better) {
  const auto place = [&](const MeansRow& row) {
    const double mean = row.means.front().mean;
    const double order = more_is_better ? -mean : mean;
    return std::tuple(row.stores_more, row.spec.budget, row.spec.budget_text(), std::isnan(mean),
                      std::isnan(mean) ? 0 : order);
  };
  return place(a) < place(b);
}

std::vector<MeansRow> rows_of(const std::vector<MeasuredMeans>& all) {
  std::vector<MeansRow> rows;
  std::map<std::string, std::size_t> known;
  for (std::size_t m = 0; m < all.size(); ++m) {
    for (const MeasuredSpec& spec : all[m].values.specs) {
      const auto [at, added] = known.emplace(spec.canonical, rows.size());
      if (added) {
        rows.push_back({spec.spec, spec.canonical, spec.stores_more,
                        std::vector<Interval>(all.size()), std::vector<std::size_t>(all.size())});
      }
      rows[at->second].means[m] = mean_interval(all[m].measure, spec.values);
      rows[at->second].texts[m] = static_cast<std::size_t>(
          std::ranges::count_if(spec.values, [](double value) { return !std::isnan(value); }));
    }
  }
  std::ranges::stable_sort(rows, [&](const MeansRow& a, const MeansRow& b) {
    return precedes(a, b, all.front().measure.more_is_better);
  });
  return rows;
}

std::vector<std::string> names_in(const std::vector<MeansRow>& rows) {
  std::vector<Spec> specs;
  for (const MeansRow& row : rows) specs.push_back(row.spec);
  return names_of(specs);
}

// "0.9607 (0.9596 to 0.9618)", and "; 4 texts" in the parentheses if other rows have more.
Entry mean_entry(const Measure& measure, const Interval& mean, std::size_t texts, bool fewer) {
  Entry entry = entry_of(measure, mean.mean);
  std::vector<std::string> words;
  if (!std::isnan(mean.low)) {
    words.push_back(entry_of(measure, mean.low).text + " to " + entry_of(measure, mean.high).text);
  }
  if (fewer && texts > 0) words.push_back(measure.counted(texts));
  if (!words.empty()) entry.text += " (" + join(words, "; ") + ")";
  return entry;
}

// The least and the most texts that a row has a mean over; rows without one do not count.
struct CountedTexts {
  std::size_t least = 0;
  std::size_t most = 0;
};

CountedTexts counted_texts(const std::vector<MeansRow>& rows, std::size_t measure) {
  CountedTexts counted;
  for (const MeansRow& row : rows) {
    const std::size_t texts = row.texts[measure];
    if (texts == 0) continue;
    counted.least = counted.most == 0 ? texts : std::min(counted.least, texts);
    counted.most = std::max(counted.most, texts);
  }
  return counted;
}

// "8 texts", or "4 to 8 texts".
std::string words_of(const Measure& measure, const CountedTexts& counted) {
  const std::string most = measure.counted(counted.most);
  return counted.least == counted.most ? most : std::to_string(counted.least) + " to " + most;
}

// How the intervals of the measures were made, if any of them has one.
std::string interval_words(const std::vector<MeasuredMeans>& all,
                           const std::vector<MeansRow>& rows) {
  bool wilson = false;
  bool resampled = false;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const bool shares = all[m].measure.share_of_answers;
    wilson = wilson || shares;
    resampled = resampled || (!shares && counted_texts(rows, m).most >= fewest_pairs);
  }
  if (wilson && resampled) {
    return ", with 95 % intervals: Wilson's of shares of answers, the bootstrap's of others.";
  }
  if (wilson) return ", with Wilson's 95 % intervals of shares.";
  return resampled ? ", with 95 % bootstrap intervals." : "; fewer than six have no intervals.";
}

Entry exact_entry(double value) {
  return {"", number_entry(value, 0).exact};
}

// The same of all measures.
std::optional<std::size_t> layer_of(const std::vector<MeasuredMeans>& all) {
  return all.front().values.layer;
}

std::vector<Column> columns_of(const std::vector<MeasuredMeans>& all) {
  std::vector<Column> columns = {
      {.title = "policy", .name = "policy"},
      {.title = "", .name = "spec", .exact_only = true},
      {.title = "budget", .name = "budget", .number = true},
  };
  if (layer_of(all)) {
    columns.push_back({.title = "layer", .name = "layer", .number = true});
  }
  if (all.front().values.group) {
    columns.push_back({.title = "", .name = "group", .exact_only = true});
  }
  columns.push_back({.title = "stores more", .name = "stores_more"});
  for (const MeasuredMeans& each : all) {
    const std::string name(each.measure.name);
    columns.push_back({.title = std::string(each.measure.title), .name = name, .number = true});
    for (const char* const end : {"_low", "_high"}) {
      columns.push_back({.title = "", .name = name + end, .number = true, .exact_only = true});
    }
  }
  return columns;
}

// Spearman's correlation of two measures, both so that more is better, over the rows. None if a row
// has them over different numbers of texts: then the texts may decide the order as well.
double correlation_of(const std::vector<MeasuredMeans>& all,
                      std::span<const MeansRow> rows,
                      std::size_t other) {
  std::vector<double> first;
  std::vector<double> second;
  for (const MeansRow& row : rows) {
    if (std::isnan(row.means[0].mean) || std::isnan(row.means[other].mean)) continue;
    if (row.texts[0] != row.texts[other]) return not_measured;
    first.push_back((all[0].measure.more_is_better ? 1 : -1) * row.means[0].mean);
    second.push_back((all[other].measure.more_is_better ? 1 : -1) * row.means[other].mean);
  }
  return first.size() < fewest_pairs ? not_measured : rank_correlation(first, second);
}

// The rows that are ranked with the first one.
std::span<const MeansRow> ranked(const std::vector<MeansRow>& rows) {
  const auto other = [&](const MeansRow& row) {
    return row.stores_more != rows.front().stores_more ||
           row.spec.budget_text() != rows.front().spec.budget_text();
  };
  const auto end = std::ranges::find_if(rows, other);
  return {rows.begin(), end};
}

}  // namespace

Table means_table(const std::vector<MeasuredMeans>& all) {
  Table table{.columns = columns_of(all), .rows = {}};
  const std::vector<MeansRow> rows = rows_of(all);
  const std::vector<std::string> names = names_in(rows);
  std::vector<std::size_t> most;  // texts, by measure
  for (std::size_t m = 0; m < all.size(); ++m) most.push_back(counted_texts(rows, m).most);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string budget = rows[i].spec.budget_text();
    const std::string more = rows[i].stores_more ? "yes" : "no";
    std::vector<Entry> entries = {
        {names[i], names[i]}, {"", rows[i].canonical}, {budget, budget == "-" ? "" : budget}};
    if (const auto layer = layer_of(all)) {
      const std::string number = std::to_string(*layer);
      entries.push_back({number, number});
    }
    if (all.front().values.group) entries.push_back({"", *all.front().values.group});
    entries.push_back({more, more});
    for (std::size_t m = 0; m < all.size(); ++m) {
      const Interval& mean = rows[i].means[m];
      const std::size_t texts = rows[i].texts[m];
      entries.push_back(mean_entry(all[m].measure, mean, texts, texts < most[m]));
      entries.push_back(exact_entry(mean.low));
      entries.push_back(exact_entry(mean.high));
    }
    table.rows.push_back(std::move(entries));
  }
  return table;
}

std::string means_words(const std::vector<MeasuredMeans>& all) {
  // Measures of one kind have the same texts, as a rule.
  std::vector<std::pair<std::string, std::string>> sizes;  // of texts, and the measures
  const std::vector<MeansRow> rows = rows_of(all);
  for (std::size_t m = 0; m < all.size(); ++m) {
    const MeasuredMeans& each = all[m];
    const std::string size = words_of(each.measure, counted_texts(rows, m));
    if (sizes.empty() || sizes.back().first != size) sizes.emplace_back(size, "");
    sizes.back().second +=
        (sizes.back().second.empty() ? "" : ", ") + std::string(each.measure.name);
  }
  std::string words;
  for (const auto& [size, names] : sizes) {
    words += (words.empty() ? "Means over " : ", ") + size;
    if (sizes.size() > 1) words += " (" + names + ")";
  }
  if (const auto layer = layer_of(all)) {
    words += " and the heads of layer " + std::to_string(*layer);
  }
  if (const auto& group = all.front().values.group) {
    words += " of the group '" + printable_line(*group) + "'";
  }
  words += interval_words(all, rows);
  const auto group = ranked(rows);
  bool first = true;
  for (std::size_t other = 1; other < all.size(); ++other) {
    const double over_all = correlation_of(all, group, other);
    if (std::isnan(over_all)) continue;
    words += " Spearman's rank correlation of the orders" +
             std::string(std::exchange(first, false) ? ", each from best to worst," : "") + " by " +
             std::string(all[0].measure.name) + " and by " + std::string(all[other].measure.name) +
             " is " + number_entry(over_all, 2).text + " over the first " +
             std::to_string(group.size()) + " rows";
    if (group.size() >= 2 * best) {
      words += ", and " + number_entry(correlation_of(all, group.first(best), other), 2).text +
               " over the first " + std::to_string(best);
    }
    words += ".";
  }
  return words;
}

std::string means_json(const std::vector<MeasuredMeans>& all) {
  const Table table = means_table(all);
  std::string lines;
  for (const std::vector<Entry>& row : table.rows) {
    JsonObject object;
    object.add("type", "spec_means");
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Column& column = table.columns[i];
      if (column.number && column.name != "budget") {
        object.add_raw(column.name, row[i].exact.empty() ? "null" : row[i].exact);
      } else {
        object.add(column.name, std::string_view(row[i].exact));
      }
    }
    lines += object.text() + "\n";
  }
  return lines;
}

}  // namespace kv::reports
