#include "kvcheck/cli/report/plot.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/report/named_spec.h"
#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 9> table = {{
    {.name = "policies",
     .value = "SPEC",
     .help = "only these policies: names, presets or specs of the run, which may leave out sizes "
             "and settings [all]",
     .list = true},
    {.name = "size",
     .value = "WIDTH",
     .help = "the width, as 84mm, 12cm or 3.3in [84mm; slide: 240mm]"},
    {.name = "style",
     .value = "paper|slide",
     .default_value = "paper",
     .help = "letters of 7 points, or of 16"},
    {.name = "format",
     .value = "pdf|svg|png",
     .help = "the kind of file [as the name of -o says; otherwise pdf]"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "where to write [FIGURE.FORMAT]"},
    {.name = "script",
     .help =
         "also write the gnuplot script and the numbers, as FILE with the endings .gp and .csv"},
    {.name = "run", .value = "ID", .help = "the run to show [as in kvcheck report]"},
    {.name = "list", .letter = 'l', .help = "list the figures of the file, and draw nothing"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Draws one figure of a report for a paper or a slide.\n"
    "\n"
    "Usage:  kvcheck plot FIGURE RUN.db [OPTIONS]\n"
    "        kvcheck plot RUN.db --list\n"
    "\n"
    "FIGURE is the name of a figure's files in the report: trace-1/budget, evaluation-1/recall,\n"
    "timing-1/speed; without the folder, the first of that name. The figure is laid out anew for\n"
    "its width, with the legend below. It needs gnuplot.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck plot budget run.db --policies h2o --policies tova --policies streaming\n"
    "  kvcheck plot evaluation-1/perplexity run.db --size 174mm -o perplexity.svg\n"
    "  kvcheck plot residency run.db --style slide --format png --script\n";

// A figure with the folder that its files have in a report.
struct Named {
  std::string folder;
  reports::Figure figure;
};

// "84mm" in millimetres.
Result<double> parse_width(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, double>, 3> units = {
      {{"mm", 1.0}, {"cm", 10.0}, {"in", 25.4}}};
  for (const auto& [unit, millimetres] : units) {
    if (!word.ends_with(unit)) continue;
    const auto count = parse_real(word.substr(0, word.size() - unit.size()), "--size", 0.01, 1000);
    if (!count) return count.error();
    const double width = *count * millimetres;
    if (width >= 30 && width <= 1000) return width;
    return usage_error("--size is '" + word + "'; expected 30mm to 1000mm");
  }
  return usage_error("--size is '" + word + "'; expected a width such as 84mm, 12cm or 3.3in");
}

Result<reports::Sheet::Format> format_of(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> names = {"pdf", "svg", "png"};
  std::string word = arguments.value("format");
  if (word.empty()) {
    const std::string output = arguments.value("output");
    const std::size_t dot = output.rfind('.');
    word = dot == std::string::npos ? "pdf" : output.substr(dot + 1);
  }
  const auto* const found = std::ranges::find(names, word);
  if (found == names.end()) return usage_error(unknown_word("format", word, names));
  return static_cast<reports::Sheet::Format>(found - names.begin());
}

Result<reports::Sheet> sheet_of(const Arguments& arguments) {
  reports::Sheet sheet;
  const std::string style = arguments.value("style");
  if (style == "slide") {
    sheet.width_mm = 240;
    sheet.letters_pt = 16;
  } else if (style != "paper") {
    constexpr std::array<std::string_view, 2> styles = {"paper", "slide"};
    return usage_error(unknown_word("style", style, styles));
  }
  if (arguments.given("size")) {
    const auto width = parse_width(arguments.value("size"));
    if (!width) return width.error();
    sheet.width_mm = *width;
  }
  const auto format = format_of(arguments);
  if (!format) return format.error();
  sheet.format = *format;
  return sheet;
}

// Leaves out the cells of other policies. Notes in `used` which words meant a cell.
template <typename Cells>
void keep_named(Cells& cells, const std::vector<std::string>& words, std::set<std::string>& used) {
  if (words.empty()) return;
  std::erase_if(cells, [&](const auto& cell) {
    bool named = false;
    for (const std::string& word : words) {
      if (!means(word, cell.cell.spec)) continue;
      used.insert(word);
      named = true;
    }
    return !named;
  });
}

std::vector<Named> all_figures(std::vector<reports::StoredRun>& runs, double page_width) {
  std::vector<Named> all;
  std::size_t traces = 0;
  std::size_t evaluations = 0;
  std::size_t timings = 0;
  const auto add = [&](const std::string& folder, std::vector<reports::Figure> figures) {
    for (reports::Figure& figure : figures) {
      if (!figure.body.empty()) all.push_back({folder, std::move(figure)});
    }
  };
  for (const reports::StoredRun& run : runs) {
    for (const ReplayResult& trace : run.traces) {
      const std::string folder = "trace-" + std::to_string(++traces);
      if (!trace.cells.empty()) add(folder, reports::figures_of(trace, page_width));
    }
    for (const ClosedLoopResult& evaluation : run.evaluations) {
      add("evaluation-" + std::to_string(++evaluations),
          reports::closed_loop_figures(evaluation, page_width));
    }
    for (const TimingResult& timing : run.timings) {
      add("timing-" + std::to_string(++timings), {reports::timing_figure(timing, page_width)});
    }
  }
  return all;
}

Result<std::vector<reports::StoredRun>> runs_of(const Arguments& arguments,
                                                const std::string& path) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  if (!id->has_value()) return reports::read_newest_runs(path);
  auto run = reports::read_run(path, static_cast<std::int64_t>(**id));
  if (!run) return run.error();
  std::vector<reports::StoredRun> runs;
  runs.push_back(*std::move(run));
  return runs;
}

std::string stem_of(const std::string& output) {
  const std::size_t slash = output.rfind('/');
  const std::size_t dot = output.rfind('.');
  return dot == std::string::npos || (slash != std::string::npos && dot < slash)
             ? output
             : output.substr(0, dot);
}

Result<void> write(const Named& named,
                   const reports::Sheet& sheet,
                   const Arguments& arguments,
                   Streams& streams) {
  constexpr std::array<const char*, 3> endings = {".pdf", ".svg", ".png"};
  std::string output = arguments.value("output");
  if (output.empty()) {
    output = named.figure.name + endings[static_cast<std::size_t>(sheet.format)];
  }
  if (auto fine = check_output(output); !fine) return fine;
  const auto drawn = reports::draw_sheet(named.figure, sheet);
  if (!drawn) return drawn.error();
  if (auto done = write_output(output, *drawn); !done) return done;
  streams.out << "Figure: " << output << "\n" << named.figure.caption << "\n";
  if (!arguments.given("script")) return {};
  const std::string stem = stem_of(output);
  const std::string file = output.substr(output.rfind('/') + 1);
  const std::string script = reports::sheet_script(named.figure, sheet, file);
  if (auto done = write_output(stem + ".gp", script); !done) return done;
  if (auto done = write_output(stem + ".csv", named.figure.csv); !done) return done;
  streams.out << "Script: " << stem << ".gp\nNumbers: " << stem << ".csv\n";
  return {};
}

Result<void> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  const bool list = arguments->given("list");
  const std::size_t operands = list ? 1 : 2;
  if (auto right = arguments->expect_operands("a figure or a results file", operands, operands);
      !right) {
    return right.error();
  }
  const auto sheet = sheet_of(*arguments);
  if (!sheet) return sheet.error();
  auto runs = runs_of(*arguments, arguments->operands().back());
  if (!runs) return runs.error();
  const std::vector<std::string> words = arguments->values("policies");
  std::set<std::string> used;
  for (reports::StoredRun& stored : *runs) {
    for (ReplayResult& trace : stored.traces) keep_named(trace.cells, words, used);
    for (ClosedLoopResult& one : stored.evaluations) keep_named(one.cells, words, used);
    for (TimingResult& timing : stored.timings) keep_named(timing.cells, words, used);
  }
  for (const std::string& word : words) {
    if (!used.contains(word)) {
      return usage_error("--policies names '" + word +
                         "', which no run has; expected a policy or "
                         "spec of " +
                         arguments->operands().back());
    }
  }
  const std::vector<Named> figures = all_figures(*runs, sheet->page_width());
  std::vector<std::string> names;
  for (const Named& named : figures) names.push_back(named.folder + "/" + named.figure.name);
  if (list) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      streams.out << names[i] << "  " << figures[i].figure.title << "\n";
    }
    return {};
  }
  const std::string& requested = arguments->operands()[0];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == requested || figures[i].figure.name == requested) {
      return write(figures[i], *sheet, *arguments, streams);
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return usage_error(unknown_word("figure", requested, known));
}

}  // namespace

constinit const Command plot_command = {
    .name = "plot",
    .summary = "draw one figure of a report for a paper or a slide",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
