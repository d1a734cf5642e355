#include "kvcheck/cli/tasks/tasks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/model/kept_work.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/model/tasks/task_generators.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 11> table = {{
    {.name = "items", .value = "N", .default_value = "100", .help = "items of each kind"},
    {.name = "length",
     .value = "N,...",
     .default_value = "200",
     .help = "the least length of a context, in tokens of --tokenizer, or in words"},
    {.name = "depth",
     .value = "X,...",
     .default_value = "0,0.25,0.5,0.75,1",
     .help = "where what is asked for stands, from 0 (the begin) to 1 (the end)"},
    {.name = "by-depth",
     .help = "a group for each depth of a kind, as 'story-fact at 0.25', instead of one for the "
             "kind; of kinds that have depths"},
    {.name = "others",
     .value = "N",
     .default_value = "4",
     .help = "how many things or steps there are besides the one asked for"},
    {.name = "restate",
     .help = "ask each question in full, then again what the answer completes, so that a cache "
             "that compresses after the question has seen a query that looks the answer up"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "decides everything drawn"},
    {.name = "tokenizer",
     .value = "PATH",
     .help = "count --length in tokens of this tokenizer.json, GGUF file or folder"},
    {.name = "list", .letter = 'l', .help = "list the kinds"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "write there [standard output]"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Makes items with planted answers, for kvcheck eval --tasks.\n"
    "\n"
    "Usage:  kvcheck tasks KIND... [OPTIONS]\n"
    "\n"
    "Each line of the output is an item: a context, a question and its answer, and what was\n"
    "planted where. Items are divided evenly among lengths and depths. Each kind is a group, over\n"
    "which kvcheck eval prints a mean, and with several lengths each length of a kind. The same\n"
    "arguments give the same bytes on every machine.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck tasks --list\n"
    "  kvcheck tasks story-fact story-facts --items 200 --restate -o items.jsonl\n"
    "  kvcheck tasks needle keys variables --length 4000,16000 --tokenizer pythia-70m -o "
    "long.jsonl\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input.\n";

struct Grid {
  std::vector<std::string> kinds;
  std::vector<std::uint64_t> lengths;
  std::vector<double> depths;
  std::size_t items = 0;
  std::size_t others = 0;
  std::uint64_t seed = 0;
  bool restate = false;
  bool by_depth = false;
};

void print_kinds(Streams& streams) {
  std::size_t width = 0;
  for (const model::TaskKind& kind : model::task_kinds()) {
    width = std::max(width, kind.name.size());
  }
  for (const model::TaskKind& kind : model::task_kinds()) {
    streams.out << kind.name << std::string(width + 2 - kind.name.size(), ' ') << kind.help << "\n";
  }
}

Result<std::vector<double>> depths_of(const Arguments& arguments) {
  std::vector<double> depths;
  const std::string words = arguments.value("depth");
  for (const std::string_view word : split(words, ',')) {
    const auto depth = parse_real(word, "--depth", 0, 1);
    if (!depth) return depth.error();
    if (std::ranges::find(depths, *depth) != depths.end()) {
      return usage_error("--depth names " + shortest(*depth) + " twice");
    }
    depths.push_back(*depth);
  }
  return depths;
}

// Null if there is no such kind.
const model::TaskKind* kind_named(std::string_view name) {
  const auto kinds = model::task_kinds();
  const auto found = std::ranges::find(kinds, name, &model::TaskKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

bool has(std::string_view kind, bool model::TaskKind::*property) {
  const model::TaskKind* const found = kind_named(kind);
  return found != nullptr && found->*property;
}

// What is asked of depths and of other things has to be about one of the kinds.
Result<void> check_meant(const Arguments& arguments, const std::vector<std::string>& kinds) {
  struct Meant {
    std::string_view option;
    bool model::TaskKind::*property;
    std::string_view lacking;
  };

  constexpr std::array<Meant, 3> all = {{
      {"others", &model::TaskKind::has_others, "has others besides what is asked for"},
      {"depth", &model::TaskKind::has_depth, "has a depth"},
      {"by-depth", &model::TaskKind::has_depth, "has a depth"},
  }};
  // That a kind is unknown is the better sentence.
  const auto unknown = [](const std::string& kind) { return kind_named(kind) == nullptr; };
  if (std::ranges::any_of(kinds, unknown)) return {};
  for (const Meant& each : all) {
    if (!arguments.given(each.option)) continue;
    const auto meant = [&](const std::string& kind) { return has(kind, each.property); };
    if (std::ranges::any_of(kinds, meant)) continue;
    return usage_error("--" + std::string(each.option) + " is given, but none of " +
                       join(kinds, ", ") + " " + std::string(each.lacking));
  }
  return {};
}

Result<Grid> grid_of(const Arguments& arguments) {
  Grid grid;
  for (const std::string& kind : arguments.operands()) {
    if (std::ranges::find(grid.kinds, kind) != grid.kinds.end()) {
      return usage_error("the kind '" + kind + "' is given twice; expected each once");
    }
    grid.kinds.push_back(kind);
  }
  if (grid.kinds.empty()) {
    return usage_error("no kind is given; kvcheck tasks --list lists them");
  }
  if (auto fine = check_meant(arguments, grid.kinds); !fine) return fine.error();
  const auto items = arguments.count("items", 1, 1U << 24U);
  if (!items) return items.error();
  auto lengths = arguments.counts("length", 1, 1U << 24U);
  if (!lengths) return lengths.error();
  auto depths = depths_of(arguments);
  if (!depths) return depths.error();
  const auto others = arguments.count("others", 0, 10'000);
  if (!others) return others.error();
  const auto seed = arguments.count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  grid.items = items->value();
  grid.lengths = *std::move(lengths);
  grid.depths = *std::move(depths);
  grid.others = others->value();
  grid.seed = seed->value();
  grid.restate = arguments.given("restate");
  grid.by_depth = arguments.given("by-depth");
  return grid;
}

Result<model::SentenceLength> length_in(const Arguments& arguments) {
  if (!arguments.given("tokenizer")) {
    return model::SentenceLength([](const std::string& sentence) -> Result<std::size_t> {
      std::size_t words = 0;
      for (const std::string_view word : split(sentence, ' ')) words += word.empty() ? 0U : 1U;
      return words;
    });
  }
  const std::string path = arguments.value("tokenizer");
  auto opened = model::open_tokenizer(path, path, 0);
  if (!opened) return opened.error();
  std::shared_ptr<const model::Tokenizer> tokenizer = *std::move(opened);
  return model::SentenceLength([tokenizer,
                                path](const std::string& sentence) -> Result<std::size_t> {
    // With the blank that stands before it.
    const auto tokens = tokenizer->encode(sentence.empty() ? sentence : " " + sentence);
    if (!tokens) {
      return Error{tokens.error().kind,
                   "the tokenizer of '" + path +
                       "' does not know the words of this kind of item: " + tokens.error().message};
    }
    return tokens->size();
  });
}

Result<std::string> lines_of(const Grid& grid, const model::SentenceLength& length) {
  std::string lines;
  for (const std::string& kind : grid.kinds) {
    for (std::size_t i = 0; i < grid.items; ++i) {
      const std::size_t of_length = grid.lengths[i % grid.lengths.size()];
      const double depth = grid.depths[i / grid.lengths.size() % grid.depths.size()];
      auto made = model::generate_task({.kind = kind,
                                        .length = of_length,
                                        .depth = depth,
                                        .others = grid.others,
                                        .seed = grid.seed,
                                        .index = static_cast<std::uint32_t>(i),
                                        .restate = grid.restate},
                                       length);
      if (!made) return made.error();
      if (grid.lengths.size() > 1) made->item.group += " " + std::to_string(of_length);
      if (grid.by_depth && has(kind, &model::TaskKind::has_depth))
        made->item.group += " at " + shortest(depth);
      lines += model::task_line(made->item, made->about) + "\n";
    }
  }
  return lines;
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (arguments->given("list")) {
    print_kinds(streams);
    return {};
  }
  const Result<Grid> grid = grid_of(*arguments);
  if (!grid) return grid.error();
  const auto length = length_in(*arguments);
  if (!length) return length.error();
  const auto lines = lines_of(*grid, *length);
  if (!lines) return lines.error();
  const std::string path = arguments->value("output");
  if (arguments->given("output") && path.empty()) {
    return usage_error("--output needs the name of a file");
  }
  return write_text(path.empty() ? "-" : path, *lines, streams);
}

}  // namespace

constinit const Command tasks_command = {
    .name = "tasks",
    .summary = "make items with planted answers, for kvcheck eval --tasks",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
