#include "kvcheck/cli/sweep/merge_command.h"

#include <array>
#include <ostream>
#include <string>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/reports/sweeps/merge.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 3> table = {{
    {.name = "output", .letter = 'o', .value = "FILE", .help = "add the cells to this file"},
    {.name = "quiet", .letter = 'q', .help = "no progress and no closing summary"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Joins the files of the shards of a sweep, which kvcheck sweep --shard writes.\n"
    "\n"
    "Usage:  kvcheck merge FILE... -o FILE [OPTIONS]\n"
    "\n"
    "The newest sweep of every file is taken. All must be of one version of kvcheck, one plan and\n"
    "the same traces. Files may overlap: a cell that several of them hold must have the same\n"
    "results in all, to the last bit. The output has the bytes of a sweep that ran all cells\n"
    "itself, in every table. More files may be merged into it later.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck merge a.db b.db -o run.db\n"
    "  kvcheck sweep plan.json --shard 1/2 -o a.db\n"
    "  kvcheck sweep plan.json --shard 2/2 -o b.db\n"
    "\n"
    "Exit status: 0 the output holds all cells of the plan; 3 some are missing, and the output\n"
    "holds the others; 2 a file is wrong, or two results of a cell differ.\n";

Result<Outcome> run(std::span<const std::string> words, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, words);
  if (!arguments) return arguments.error();
  if (const auto some = arguments->expect_operands("a FILE", 1, 100000); !some) return some.error();
  const std::string output = arguments->value("output");
  if (output.empty()) return usage_error("no -o FILE is given; expected the file of all cells");
  const InterruptGuard guard;
  Progress shown(streams.err, streams.terminal && !arguments->given("quiet"));
  const auto merged = reports::merge_sweeps(arguments->operands(), output, [&](double share) {
    shown.update(share, "merging");
    return !interrupted();
  });
  shown.clear();
  if (!merged) return merged.error();
  if (!arguments->given("quiet")) {
    streams.out << "'" << printable_line(output) << "' holds " << merged->held << " of "
                << merged->total << " cells of the plan: " << merged->added << " were added";
    if (merged->shared > 0) {
      streams.out << ", " << merged->shared
                  << (merged->times ? " were there, whose times were kept"
                                    : " were there with the same results");
    }
    streams.out << (merged->complete()
                        ? ".\n"
                        : ". Run the shards that are missing, and merge them too.\n");
  }
  return merged->complete() ? Outcome::done : Outcome::incomplete;
}

}  // namespace

constinit const Command merge_command = {
    .name = "merge",
    .summary = "join the files of the shards of a sweep",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
