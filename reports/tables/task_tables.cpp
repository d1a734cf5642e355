#include "kvcheck/reports/tables/task_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/paired.h"
#include "kvcheck/reports/numbers/row_names.h"

namespace kv::reports {
namespace {

constexpr std::array<Score, 5> all_scores = {{
    {.name = "exact", .title = "exact"},
    {.name = "contains", .title = "contains"},
    {.name = "f1", .title = "F1"},
    {.name = "choice", .title = "right choice"},
    {.name = "answer_loss", .title = "loss, nats", .more_is_better = false, .is_share = false},
}};

double value_of(const TaskAnswer& answer, std::string_view score) {
  if (score == "exact") return answer.exact ? 1 : 0;
  if (score == "contains") return answer.contains ? 1 : 0;
  if (score == "f1") return answer.f1;
  if (score == "answer_loss") return answer.loss;
  if (answer.rank == 0) return not_measured;
  return answer.rank == 1 ? 1 : 0;
}

std::string rounded(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.3f" : "%.1f", value);
  return text.data();
}

// "0.420 (0.353-0.489)"
Entry interval_entry(const Interval& interval) {
  if (std::isnan(interval.mean)) return {"-", ""};
  std::string text = rounded(interval.mean);
  if (!std::isnan(interval.low)) {
    text += " (" + rounded(interval.low) + "-" + rounded(interval.high) + ")";
  }
  return {text, shortest(interval.mean)};
}

std::vector<std::string> names_of_cells(const TaskResult& result) {
  std::vector<Spec> specs;
  for (const TaskCell& cell : result.cells) specs.push_back(cell.cell.spec);
  return names_of(specs);
}

// A budget in tokens, for CSV; empty if there is none, or a share.
std::string budget_number(const Spec& spec) {
  return spec.budget > 0 ? std::to_string(spec.budget) : "";
}

Table table_of_cells(const TaskResult& result,
                     std::vector<Column> columns,
                     const std::function<std::vector<Entry>(const TaskCell&)>& entries) {
  Table table{.columns = {{.title = "policy", .name = "policy"},
                          {.title = "", .name = "spec", .exact_only = true},
                          {.title = "budget", .name = "budget", .number = true},
                          {.title = "", .name = "seed", .number = true, .exact_only = true}},
              .rows = {}};
  for (Column& column : columns) table.columns.push_back(std::move(column));
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const TaskCell& cell = result.cells[i];
    const Spec& spec = cell.cell.spec;
    std::vector<Entry> row = {{names[i], names[i]},
                              {"", spec.canonical()},
                              {spec.bounded() ? spec.budget_text() : "-", budget_number(spec)},
                              {"", std::to_string(cell.cell.seed)}};
    for (Entry& entry : entries(cell)) row.push_back(std::move(entry));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string range_of(const std::vector<std::size_t>& values) {
  const auto [least, most] = std::ranges::minmax_element(values);
  if (*least == *most) return with_commas(*least);
  return with_commas(*least) + " to " + with_commas(*most);
}

std::string counted(std::size_t count, const std::string& noun) {
  return with_commas(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::span<const Score> scores() {
  return all_scores;
}

const Score& score_named(std::string_view name) {
  return *std::ranges::find(all_scores, name, &Score::name);
}

Result<void> check_score(const std::string& name) {
  if (std::ranges::find(all_scores, name, &Score::name) != all_scores.end()) return {};
  std::vector<std::string_view> names;
  for (const Score& score : all_scores) names.push_back(score.name);
  return usage_error("--score: " + unknown_word("score", name, names));
}

std::vector<double> score_values(const TaskResult& result,
                                 const TaskCell& cell,
                                 std::string_view score) {
  std::vector<double> values;
  for (std::size_t i = 0; i < result.items.size(); ++i) {
    values.push_back(value_of(cell.answers[i], score));
  }
  return values;
}

Interval score_mean(std::span<const double> values, const Score& score) {
  std::vector<double> known;
  for (const double value : values) {
    if (!std::isnan(value)) known.push_back(value);
  }
  if (known.empty()) return {};
  return score.is_share ? share_interval(known) : bootstrap_interval(known);
}

std::vector<std::string> groups_of(const TaskResult& result) {
  std::vector<std::string> groups;
  for (const AskedItem& item : result.items) {
    if (std::ranges::find(groups, item.group) == groups.end()) groups.push_back(item.group);
  }
  return groups;
}

std::string group_words(const std::string& group) {
  return group.empty() ? "(no group)" : group;
}

std::vector<double> values_in(const TaskResult& result,
                              const std::vector<double>& values,
                              const std::string* group) {
  std::vector<double> selected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group == nullptr || result.items[i].group == *group) selected.push_back(values[i]);
  }
  return selected;
}

Table scores_table(const TaskResult& result) {
  const bool choices =
      std::ranges::any_of(result.items, [](const AskedItem& item) { return item.choices > 0; });
  std::vector<Score> shown;
  std::vector<Column> columns;
  for (const Score& score : all_scores) {
    if (score.name == "choice" && !choices) continue;
    shown.push_back(score);
    columns.push_back(
        {.title = std::string(score.title), .name = std::string(score.name), .number = true});
  }
  columns.push_back({.title = "peak KiB", .name = "kv_kib", .number = true});
  return table_of_cells(result, std::move(columns), [&](const TaskCell& cell) {
    std::vector<Entry> entries;
    for (const Score& score : shown) {
      entries.push_back(interval_entry(score_mean(score_values(result, cell, score.name), score)));
    }
    const std::string kib = std::to_string((cell.kv_bytes + 1023) / 1024);
    entries.push_back({kib, kib});
    return entries;
  });
}

Table groups_table(const TaskResult& result, std::string_view score) {
  const std::vector<std::string> groups = groups_of(result);
  if (groups.size() < 2) return {};
  std::vector<Column> columns;
  for (const std::string& group : groups) {
    const auto count = std::ranges::count(result.items, group, &AskedItem::group);
    const std::string name = group_words(group);
    columns.push_back({.title = name + " (" + std::to_string(count) + ")",
                       .name = std::string(score) + "_" + name,
                       .number = true});
  }
  return table_of_cells(result, std::move(columns), [&](const TaskCell& cell) {
    const std::vector<double> values = score_values(result, cell, score);
    std::vector<Entry> entries;
    for (const std::string& group : groups) {
      const auto selected = values_in(result, values, &group);
      entries.push_back(interval_entry(score_mean(selected, score_named(score))));
    }
    return entries;
  });
}

bool shows_groups(const Score& score) {
  return score.name == "exact" || score.name == "answer_loss";
}

std::string items_line(const TaskResult& result) {
  std::vector<std::size_t> contexts;
  for (const AskedItem& item : result.items) contexts.push_back(item.context);
  const std::size_t groups = groups_of(result).size();
  std::string line = result.model + " on " +
                     std::filesystem::path(result.file).filename().string() + ": " +
                     counted(result.items.size(), "item");
  if (groups > 1) line += " in " + counted(groups, "group");
  return line + ", contexts of " + range_of(contexts) + " tokens";
}

std::string task_line(const TaskResult& result) {
  return items_line(result) + "; means over items with 95 % intervals";
}

std::string task_csv(const TaskResult& result) {
  std::string out =
      "model,architecture,storage,file,spec,policy,budget,seed,item,group,context,question,"
      "answer_tokens,choices,text,exact,contains,f1,answer_loss,rank,name\n";
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t number = 0; number < result.cells.size(); ++number) {
    const TaskCell& cell = result.cells[number];
    const Spec& spec = cell.cell.spec;
    for (std::size_t i = 0; i < result.items.size(); ++i) {
      const AskedItem& item = result.items[i];
      const TaskAnswer& answer = cell.answers[i];
      out += csv_line(std::vector<std::string>{result.model,
                                               result.architecture,
                                               stored_as(spec, result.storage),
                                               result.file,
                                               spec.canonical(),
                                               std::string(spec.policy->name),
                                               budget_number(spec),
                                               std::to_string(cell.cell.seed),
                                               item.id,
                                               item.group,
                                               std::to_string(item.context),
                                               std::to_string(item.question),
                                               std::to_string(item.answer),
                                               std::to_string(item.choices),
                                               answer.text,
                                               answer.exact ? "1" : "0",
                                               answer.contains ? "1" : "0",
                                               shortest(answer.f1),
                                               shortest(answer.loss),
                                               answer.rank == 0 ? "" : std::to_string(answer.rank),
                                               names[number]});
    }
  }
  return out;
}

std::string task_json(const TaskResult& result) {
  std::string out;
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t number = 0; number < result.cells.size(); ++number) {
    const TaskCell& cell = result.cells[number];
    const Spec& spec = cell.cell.spec;
    for (std::size_t i = 0; i < result.items.size(); ++i) {
      const AskedItem& item = result.items[i];
      const TaskAnswer& answer = cell.answers[i];
      JsonObject line;
      line.add("type", "answer")
          .add("model", result.model)
          .add("architecture", result.architecture)
          .add("storage", stored_as(spec, result.storage))
          .add("file", result.file)
          .add("spec", spec.canonical())
          .add("policy", spec.policy->name);
      if (spec.budget > 0) {
        line.add("budget", std::uint64_t{spec.budget});
      } else {
        line.add_raw("budget", "null");
      }
      line.add("seed", cell.cell.seed)
          .add("item", item.id)
          .add("group", item.group)
          .add("context", std::uint64_t{item.context})
          .add("question", std::uint64_t{item.question})
          .add("answer_tokens", std::uint64_t{item.answer})
          .add("choices", std::uint64_t{item.choices})
          .add("text", answer.text)
          .add("exact", answer.exact)
          .add("contains", answer.contains)
          .add("f1", answer.f1)
          .add("answer_loss", answer.loss);
      line.add_raw("rank", answer.rank > 0 ? std::to_string(answer.rank) : "null");
      line.add("name", names[number]);
      out += line.text() + "\n";
    }
  }
  return out;
}

}  // namespace kv::reports
