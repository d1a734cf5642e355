#include "kvcheck/cli/report/plot.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/report/plot_names.h"
#include "kvcheck/cli/report/plot_parts.h"
#include "kvcheck/cli/report/unfinished_runs.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 10> table = {{
    {.name = "policies",
     .value = "SPEC",
     .help = "only these policies, in this order in legends: names as the figure shows them, or "
             "policies, presets or specs of the run, which may leave out sizes and settings [all]",
     .list = true},
    {.name = "names",
     .value = "FILE",
     .help = "names and colours of policies, in lines such as 'h2o:sinks=4 = H2O #0072b2'"},
    {.name = "size",
     .value = "WIDTH",
     .help = "the width, as 84mm, 12cm or 3.3in [84mm; slide: 240mm]"},
    {.name = "style",
     .value = "paper|slide",
     .default_value = "paper",
     .help =
         "letters of 7 points on a page of at most 226 mm, or of 16 on a slide of 16:9; a figure "
         "of more panels than fit shows the first ones, and its caption says so"},
    {.name = "format",
     .value = "pdf|svg|png",
     .help = "the kind of file [as the name of -o says; otherwise pdf]"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "where to write; - is standard output [FIGURE.FORMAT]"},
    {.name = "script",
     .help =
         "also write the gnuplot script and the numbers, as FILE with the endings .gp and .csv"},
    {.name = "run", .value = "ID", .help = "the run to show [as in kvcheck report]"},
    {.name = "list", .letter = 'l', .help = "list the figures of the file, and draw nothing"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

// The names of all figures that results may have, for completion.
constexpr std::array<std::string_view, 14> figure_names = {
    "budget",    "oracle",    "stream",        "sizes",        "residency",
    "inclusion", "attention", "lifetimes",     "head-mass",    "perplexity",
    "recall",    "speed",     "answer-scores", "answer-groups"};

constexpr std::string_view help =
    "Draws one figure of a report for a paper or a slide.\n"
    "\n"
    "Usage:  kvcheck plot FIGURE RUN.db [OPTIONS]\n"
    "        kvcheck plot RUN.db --list\n"
    "\n"
    "FIGURE is the name of a figure's files in the report: trace-1/budget, evaluation-1/recall,\n"
    "timing-1/speed, tasks-1/answer-scores; without the folder, the first of that name. The\n"
    "figure is laid out anew for its width, with the legend below. It needs gnuplot.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck plot budget run.db --policies h2o --policies tova --policies streaming\n"
    "  kvcheck plot evaluation-1/perplexity run.db --size 174mm -o perplexity.svg\n"
    "  kvcheck plot residency run.db --style slide --format png --script\n"
    "  kvcheck plot budget run.db --policies h2o --policies reservoir --names names.txt\n";

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
  const std::string output = arguments.value("output");
  const std::size_t dot = output.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : output.substr(dot + 1);
  if (word.empty()) word = dot == std::string::npos ? "pdf" : ending;
  const auto* const found = std::ranges::find(names, word);
  if (found == names.end()) return usage_error(unknown_word("format", word, names));
  if (ending != word && std::ranges::find(names, ending) != names.end()) {
    return usage_error("--format is " + word + ", but '" + output + "' ends as a file of " +
                       ending + "; expected one of them, or both alike");
  }
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
  if (style == "slide") sheet.height_mm = sheet.width_mm * 9 / 16;
  const auto format = format_of(arguments);
  if (!format) return format.error();
  sheet.format = *format;
  return sheet;
}

// Each word has to mean a cell of one of the parts.
Result<void> check_words(const std::vector<std::string>& words,
                         std::span<const PlotPart> parts,
                         const std::string& lacking) {
  std::vector<Spec> specs;
  for (const PlotPart& part : parts) specs.insert(specs.end(), part.all.begin(), part.all.end());
  for (const std::string& word : words) {
    const auto means_some = [&](const PlotPart& part) { return part.used.contains(word); };
    if (std::ranges::any_of(parts, means_some)) continue;
    const bool list = word.find(',') < word.find(':');
    return usage_error(reports::not_named("--policies", word, lacking, specs) +
                       (list ? "; several policies are several --policies" : ""));
  }
  return {};
}

Result<std::vector<reports::StoredRun>> runs_of(const Arguments& arguments,
                                                const std::string& path) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  return reports::runs_to_show(path, static_cast<std::int64_t>(id->value_or(0)));
}

std::string stem_of(const std::string& output) {
  const std::size_t slash = output.rfind('/');
  const std::size_t dot = output.rfind('.');
  return dot == std::string::npos || (slash != std::string::npos && dot < slash)
             ? output
             : output.substr(0, dot);
}

Result<void> write(const reports::Figure& figure,
                   const reports::Sheet& sheet,
                   const Arguments& arguments,
                   Streams& streams) {
  constexpr std::array<const char*, 3> endings = {".pdf", ".svg", ".png"};
  std::string output = arguments.value("output");
  if (output.empty()) {
    output = figure.name + endings[static_cast<std::size_t>(sheet.format)];
  }
  const bool piped = output == "-";
  if (piped && arguments.given("script")) {
    return usage_error("--script writes files beside the figure; expected -o with a name");
  }
  if (auto fine = piped ? Result<void>() : check_output(output); !fine) return fine;
  const auto drawn = reports::draw_sheet(figure, sheet);
  if (!drawn) return drawn.error();
  if (auto done = write_texts({{output, *drawn}}, streams.out); !done) return done;
  (piped ? streams.err : streams.out) << "Figure: " << output << "\n" << figure.caption << "\n";
  if (!arguments.given("script")) return {};
  const std::string stem = stem_of(output);
  const std::string file = output.substr(output.rfind('/') + 1);
  const std::string script = reports::sheet_script(figure, sheet, file);
  if (auto done = write_output(stem + ".gp", script); !done) return done;
  if (auto done = write_output(stem + ".csv", figure.csv); !done) return done;
  streams.out << "Script: " << stem << ".gp\nNumbers: " << stem << ".csv\n";
  return {};
}

void print_list(std::span<const PlotPart> parts, const std::string& path, Streams& streams) {
  const auto bare = [](const PlotPart& part) { return part.figures.empty(); };
  if (std::ranges::all_of(parts, bare)) streams.err << path << " has no figures\n";
  for (const PlotPart& part : parts) {
    for (const reports::Figure& figure : part.figures) {
      streams.out << part.folder << "/" << figure.name << "  " << figure.title << "\n";
    }
  }
}

// A figure, and the part of the results that has it.
struct Found {
  const PlotPart* part = nullptr;
  const reports::Figure* figure = nullptr;
};

// Requires that each of `words` means a cell of some part.
Result<Found> find_figure(std::span<const PlotPart> parts,
                          const std::string& requested,
                          const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const PlotPart& part : parts) {
    const auto fine = check_words(words, {&part, 1}, part.folder + " does not have");
    for (const reports::Figure& figure : part.figures) {
      known.push_back(part.folder + "/" + figure.name);
      if (requested != known.back() && requested != figure.name) continue;
      if (!fine) return fine.error();
      return Found{&part, &figure};
    }
    // No figure is left if no word means a cell of the part.
    if (!fine && requested.starts_with(part.folder + "/")) return fine.error();
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  return usage_error(unknown_word("figure", requested, views));
}

// Why a figure was not found: it may be one of other policies than those that were selected.
Error not_found(const Arguments& arguments, const reports::Sheet& sheet, const Error& error) {
  if (!arguments.given("policies") || error.message.starts_with("--policies")) return error;
  auto runs = runs_of(arguments, arguments.operands().back());
  if (!runs) return runs.error();
  const std::string& requested = arguments.operands()[0];
  if (!find_figure(plot_parts(*runs, {}, sheet.page(), {}), requested, {})) return error;
  return usage_error("'" + requested +
                     "' shows none of the policies that --policies names; without "
                     "it, the figure shows those that it has");
}

Result<void> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  const bool list = arguments->given("list");
  const std::size_t operands = list ? 1 : 2;
  if (!list && arguments->operands().size() == 1) {
    return usage_error("expected a figure and a results file, found only '" +
                       arguments->operands()[0] +
                       "'; kvcheck plot RUN.db --list names the figures "
                       "of a results file");
  }
  if (auto right = arguments->expect_operands("a figure or a results file", operands, operands);
      !right) {
    return right.error();
  }
  const auto sheet = sheet_of(*arguments);
  if (!sheet) return sheet.error();
  auto runs = runs_of(*arguments, arguments->operands().back());
  if (!runs) return runs.error();
  const auto names = PlotNames::read(arguments->value("names"));
  if (!names) return names.error();
  const std::vector<std::string> words = arguments->values("policies");
  const auto parts = plot_parts(*runs, words, sheet->page(), names->renaming());
  if (auto fine = check_words(words, parts, "no run has"); !fine) return fine;
  if (list) {
    print_list(parts, arguments->operands()[0], streams);
    return {};
  }
  const auto found = find_figure(parts, arguments->operands()[0], words);
  if (!found) return not_found(*arguments, *sheet, found.error());
  if (auto fine = names->check(found->part->specs, found->part->folder); !fine) return fine;
  reports::Figure figure = *found->figure;
  const auto missing = arguments->given("names") ? std::vector<std::string>()
                                                 : words_not_drawn(*found->part, figure, words);
  if (!missing.empty()) figure.caption += " Not in this figure: " + join(missing, ", ") + ".";
  if (!found->part->complete) {
    figure.caption += " The run did not finish; what it lacks is not shown.";
  }
  if (auto done = write(figure, *sheet, *arguments, streams); !done) return done;
  note_unfinished(arguments->operands().back(), reports::summaries_of(*runs),
                  arguments->given("run"), streams.err);
  return {};
}

}  // namespace

constinit const Command plot_command = {
    .name = "plot",
    .summary = "draw one figure of a report for a paper or a slide",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
    .first_words = figure_names,
};

}  // namespace kv::cli
