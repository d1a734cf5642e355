#include "kvcheck/cli/report/plot_parts.h"

#include <algorithm>
#include <utility>

#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/figures/figure_tasks.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/row_names.h"

namespace kv::cli {
namespace {

// Leaves out the cells of other policies, and orders the rest as the words. Returns which words
// meant a cell.
template <typename Cells>
std::set<std::string> keep_named(Cells& cells,
                                 const std::vector<Spec>& specs,
                                 const std::vector<std::string>& words) {
  std::set<std::string> used;
  if (words.empty()) return used;
  std::vector<bool> taken(cells.size());
  Cells left;
  for (const std::string& word : words) {
    const std::vector<bool> named = reports::named_among(word, specs);
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (!named[i]) continue;
      used.insert(word);
      if (!taken[i]) left.push_back(std::move(cells[i]));
      taken[i] = true;
    }
  }
  cells = std::move(left);
  return used;
}

std::vector<reports::Figure> drawn(const ReplayResult& trace,
                                   reports::Page page,
                                   const reports::Renaming& renaming) {
  if (trace.cells.empty()) return {};
  return reports::figures_of(trace, page, renaming);
}

std::vector<reports::Figure> drawn(const ClosedLoopResult& evaluation,
                                   reports::Page page,
                                   const reports::Renaming& renaming) {
  return reports::closed_loop_figures(evaluation, page, renaming);
}

std::vector<reports::Figure> drawn(const TimingResult& timing,
                                   reports::Page page,
                                   const reports::Renaming& renaming) {
  return {reports::timing_figure(timing, page, renaming)};
}

std::vector<reports::Figure> drawn(const TaskResult& tasks,
                                   reports::Page page,
                                   const reports::Renaming& renaming) {
  return reports::task_figures(tasks, page, renaming);
}

template <typename Results>
PlotPart part_of(const std::string& folder,
                 Results& results,
                 const std::vector<std::string>& words,
                 reports::Page page,
                 const reports::Renaming& renaming) {
  PlotPart part{.folder = folder, .used = {}, .all = {}, .specs = {}, .figures = {}};
  for (const auto& cell : results.cells) part.all.push_back(cell.cell.spec);
  part.used = keep_named(results.cells, part.all, words);
  for (const auto& cell : results.cells) part.specs.push_back(cell.cell.spec);
  part.figures = drawn(results, page, renaming);
  std::erase_if(part.figures, [](const reports::Figure& one) { return one.body.empty(); });
  return part;
}

}  // namespace

std::vector<PlotPart> plot_parts(std::vector<reports::StoredRun>& runs,
                                 const std::vector<std::string>& words,
                                 reports::Page page,
                                 const reports::Renaming& renaming) {
  std::vector<PlotPart> parts;
  const auto add_all = [&](bool complete, const std::string& kind, std::size_t& number, auto& all) {
    for (auto& one : all) {
      const std::string folder = kind + "-" + std::to_string(++number);
      parts.push_back(part_of(folder, one, words, page, renaming));
      parts.back().complete = complete;
    }
  };
  std::size_t traces = 0;
  std::size_t evaluations = 0;
  std::size_t timings = 0;
  std::size_t tasks = 0;
  for (reports::StoredRun& run : runs) {
    const bool complete = run.summary.complete;
    add_all(complete, "trace", traces, run.traces);
    add_all(complete, "evaluation", evaluations, run.evaluations);
    add_all(complete, "timing", timings, run.timings);
    add_all(complete, "tasks", tasks, run.tasks);
  }
  return parts;
}

std::vector<std::string> words_not_drawn(const PlotPart& part,
                                         const reports::Figure& figure,
                                         const std::vector<std::string>& words) {
  if (figure.csv.find(" others,") != std::string::npos) return {};
  const std::vector<std::string> names = reports::names_of(part.specs);
  std::vector<bool> drawn;
  for (const std::string& name : names) {
    const std::string begin = "\n" + reports::csv_field(name) + ",";
    drawn.push_back(figure.csv.find(begin) != std::string::npos);
  }
  if (std::ranges::count(drawn, true) == 0) return {};
  std::vector<std::string> missing;
  for (const std::string& word : words) {
    const std::vector<bool> named = reports::named_among(word, part.specs);
    bool shown = std::ranges::count(named, true) == 0;
    for (std::size_t i = 0; i < names.size(); ++i) shown = shown || (named[i] && drawn[i]);
    if (!shown) missing.push_back(word);
  }
  return missing;
}

}  // namespace kv::cli
