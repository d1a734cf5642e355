#include "kvcheck/reports/page/section_files.h"

#include <set>
#include <span>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/tables/bounds_table.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/loops_table.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/reports/tables/timing_table.h"

namespace kv::reports {
namespace {

std::string dense_csv(const ReplayResult& result) {
  std::string out = "layer,head,first_mass,sinks_mass,recent_mass,entropy\n";
  for (const DenseFacts& head : result.dense) {
    const std::vector<std::string> fields = {std::to_string(head.layer), std::to_string(head.head),
                                             shortest(head.first_mass),  shortest(head.sinks_mass),
                                             shortest(head.recent_mass), shortest(head.entropy)};
    out += csv_line(fields);
  }
  return out;
}

// Only one seed of each spec: with twenty the series would be most of the report's bytes. The
// results file holds them all.
ReplayResult first_seeds(const ReplayResult& result) {
  ReplayResult first = result;
  std::set<std::string> seen;
  std::erase_if(first.cells, [&](const CellResult& cell) {
    return !seen.insert(cell.cell.spec.canonical()).second;
  });
  return first;
}

}  // namespace

SectionFiles files_of(const ReplayResult& result) {
  const Table summary = summary_table(result);
  SectionFiles files = {
      {"summary.csv", to_csv(summary)},
      {"summary.md", summary_markdown(summary) +
                         (result.trace.queries.empty() ? "" : "\n" + sample_words(result) + "\n")},
      {"cells.csv", cells_csv(result)},
      {"cells.jsonl", json_lines(result, false)},
      {"heads.csv", heads_csv(result)},
      {"series.csv", series_csv(first_seeds(result))},
      {"dense.csv", dense_csv(result)}};
  if (has_bounds(result)) files.emplace_back("bounds.csv", to_csv(bounds_table(result)));
  return files;
}

SectionFiles files_of(const ClosedLoopResult& result) {
  const Table perplexity = perplexity_table(result);
  const std::string words = perplexity_words(result);
  SectionFiles files = {
      {"perplexities.csv", to_csv(perplexity)},
      {"perplexity.md", to_markdown(perplexity) + (words.empty() ? "" : "\n" + words + "\n")},
      {"cells.csv", closed_loop_csv(std::span(&result, 1))},
      {"cells.jsonl", closed_loop_json(result)},
      {"series.csv", closed_loop_series_csv(result)}};
  if (has_open_loop(result)) {
    const Table loops = loops_table(result);
    files.emplace_back("loops.csv", to_csv(loops));
    files.emplace_back("loops.md", to_markdown(loops) + "\n" + loops_words(result) + "\n");
  }
  if (!result.asks()) return files;
  const Table recall = recall_table(result);
  files.emplace_back("recalls.csv", to_csv(recall));
  files.emplace_back("recall.md", to_markdown(recall));
  return files;
}

SectionFiles files_of(const TimingResult& result) {
  return {{"timings.csv", to_csv(timing_rows(result))},
          {"timings.md", to_markdown(timing_table(result))}};
}

SectionFiles files_of(const TaskResult& result) {
  const Table table = scores_table(result);
  SectionFiles files = {{"answers.csv", task_csv(result)},
                        {"answers.jsonl", task_json(result)},
                        {"scores.csv", to_csv(table)},
                        {"scores.md", to_markdown(table)}};
  for (const Score& score : scores()) {
    const Table groups = groups_table(result, score.name);
    if (groups.rows.empty() || !shows_groups(score)) continue;
    files.emplace_back("groups-" + std::string(score.name) + ".csv", to_csv(groups));
  }
  return files;
}

}  // namespace kv::reports
