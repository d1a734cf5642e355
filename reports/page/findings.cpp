#include "kvcheck/reports/page/findings.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {
namespace {

using Summaries = std::vector<const SpecSummary*>;

std::string percent(double share, int digits = 1) {
  return number_entry(100 * share, digits).text + "\u00a0%";  // no line break between the two
}

// The fewest digits after the point with which two shares look different, if they are.
int digits_apart(double one, double other) {
  int digits = 1;
  while (digits < 4 && percent(one, digits) == percent(other, digits)) ++digits;
  return one == other ? 1 : digits;
}

// The specs that store no more than their budget, by budget, the best first.
std::map<std::uint32_t, Summaries> ranked(const std::vector<SpecSummary>& all) {
  std::map<std::uint32_t, Summaries> by_budget;
  for (const SpecSummary& summary : all) {
    if (!stores_more(summary) && std::isfinite(summary.after.retained_mass.mean)) {
      by_budget[summary.spec.budget].push_back(&summary);
    }
  }
  for (auto& [budget, some] : by_budget) {
    std::ranges::stable_sort(some, std::greater<>(),
                             [](const SpecSummary* one) { return one->after.retained_mass.mean; });
  }
  return by_budget;
}

std::string others_text(const std::vector<SpecSummary>& all, std::uint32_t budget) {
  std::vector<std::string> names;
  for (const SpecSummary& summary : all) {
    if (summary.spec.budget != budget || !stores_more(summary)) continue;
    names.push_back(summary.name + " (" + number_entry(summary.stored_peak, 0).text + ")");
  }
  if (names.empty()) return "";
  return "Not ranked, because a unit stores more rows than " + std::to_string(budget) +
         " tokens: " + join(names, ", ") + ".";
}

}  // namespace

std::vector<std::string> findings_of(const ReplayResult& result) {
  const std::vector<SpecSummary> all = summarise(result);
  std::vector<Spec> specs;
  for (const SpecSummary& summary : all) specs.push_back(summary.spec);
  const std::uint32_t budget = middle_budget(specs);
  auto by_budget = ranked(all);
  std::vector<std::string> findings;
  const Summaries& some = by_budget[budget];
  if (some.size() < 2) return findings;
  const SpecSummary& best = *some[0];
  const SpecSummary& worst = *some.back();
  const double second = some[1]->after.retained_mass.mean;
  const int digits = digits_apart(best.after.retained_mass.mean, second);
  std::string first = "With a budget of " + std::to_string(budget) + " tokens, " + best.name +
                      " kept most of the attention once it evicted: " +
                      percent(best.after.retained_mass.mean, digits) + " of its mass";
  if (std::isfinite(best.after.optimum_share)) {
    first += ", which is " + percent(best.after.optimum_share) +
             " of the most that any cache could keep";
  }
  findings.push_back(first + ".");
  findings.push_back("The next of " + std::to_string(some.size()) + " is " + some[1]->name +
                     " with " + percent(second, digits) +
                     "; one text cannot say whether the two differ on others.");
  if (some.size() > 2) {
    findings.push_back("The least was kept by " + worst.name + ": " +
                       percent(worst.after.retained_mass.mean) + ".");
  }
  std::vector<std::string> elsewhere;
  for (const auto& [other, list] : by_budget) {
    if (other == budget || list.size() < 2) continue;
    elsewhere.push_back(list[0]->name + " at " + std::to_string(other) + " (" +
                        percent(list[0]->after.retained_mass.mean) + ")");
  }
  if (!elsewhere.empty()) {
    findings.push_back("The best at other budgets: " + join(elsewhere, ", ") + ".");
  }
  if (std::string others = others_text(all, budget); !others.empty()) {
    findings.push_back(std::move(others));
  }
  return findings;
}

std::vector<std::string> findings_of(const TimingResult& result) {
  std::size_t length = 0;
  for (const TimedCell& cell : result.cells) length = std::max(length, cell.length);
  std::vector<TimedSummary> some;
  std::vector<Spec> specs;
  for (const TimedSummary& summary : timed_summaries(result)) {
    if (summary.median.length != length) continue;
    some.push_back(summary);
    specs.push_back(summary.median.cell.spec);
  }
  if (some.size() < 2) return {};
  const std::vector<std::string> names = names_of(specs);
  const auto median = [](const TimedSummary& one) { return one.median.token_s; };
  const auto fastest = std::ranges::min_element(some, {}, median);
  const auto slowest = std::ranges::max_element(some, {}, median);
  const auto shown = [&](const auto& at) {
    const TimedCell& cell = at->median;
    const Spec& spec = cell.cell.spec;
    const double ms = 1e3 * cell.token_s;
    return names[static_cast<std::size_t>(at - some.begin())] +
           (spec.bounded() ? " at " + spec.budget_text() : "") + " (" +
           number_entry(ms, ms < 10 ? 2 : 0).text + "\u00a0ms, " +
           with_commas((cell.kv_bytes + 1023) / 1024) + "\u00a0KiB of keys and values)";
  };
  const bool overlap = fastest->most.token_s >= slowest->least.token_s;
  const bool once = fastest->runs == 1 || slowest->runs == 1;
  return {"After a prompt of " + with_commas(length) +
          " tokens, a token took the least time with " + shown(fastest) + " and the most with " +
          shown(slowest) + "." +
          (once      ? " Each was timed once, which says nothing of other runs."
           : overlap ? " The ranges of their runs overlap, so that this order may be chance."
                     : "") +
          " Times are those of one machine and its load."};
}

std::string findings_html(const std::vector<std::string>& findings) {
  if (findings.empty()) return "";
  return "<p class=\"findings\">" + html_escaped(join(findings, " ")) + "</p>\n";
}

std::string page_findings(const ReportSections& page) {
  std::string out;
  const auto add = [&](const std::string& folder, const std::string& name, const auto& result) {
    const std::string findings = findings_html(findings_of(result));
    if (findings.empty()) return;
    out += "<h2 class=\"finding\">" + link_to("#" + folder, breakable(name)) + "</h2>\n" + findings;
  };
  if (!page.texts.comparisons.empty()) add(page.texts.folder, "all texts", page.texts);
  for (const TraceSection& section : page.traces) {
    add(section.folder, short_name(section.result->trace), *section.result);
  }
  for (const EvaluationSection& section : page.evaluations) {
    add(section.folder, text_of(*section.result), *section.result);
  }
  for (const TasksSection& section : page.tasks) {
    add(section.folder, "answers to " + section.result->file, *section.result);
  }
  for (const TimingSection& section : page.timings) {
    add(section.folder, "time and memory of " + section.result->model, *section.result);
  }
  return out;
}

}  // namespace kv::reports
