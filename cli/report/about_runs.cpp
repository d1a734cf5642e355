#include "kvcheck/cli/report/about_runs.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/report/unfinished_runs.h"

namespace kv::cli {
namespace {

// Stored commands leave out where results are written, and what is shown meanwhile.
std::set<std::string> commands_of(std::span<const reports::StoredRun> runs) {
  std::set<std::string> all;
  for (const reports::StoredRun& run : runs) all.insert(run.summary.command);
  return all;
}

// The first of `some` that `others` does not have, and how many more there are.
std::string first_other(const std::set<std::string>& some, const std::set<std::string>& others) {
  constexpr std::size_t longest = 300;
  std::vector<std::string> apart;
  std::ranges::set_difference(some, others, std::back_inserter(apart));
  if (apart.empty()) return "";
  const std::string& first = apart.front();
  const std::string more =
      apart.size() == 1 ? "" : " (and " + std::to_string(apart.size() - 1) + " more)";
  return printable_line(first.size() > longest ? first.substr(0, longest) + "..." : first) + more;
}

// A sentence if the commands differ; empty otherwise.
std::string other_commands(std::span<const reports::StoredRun> before,
                           std::span<const reports::StoredRun> after) {
  const std::set<std::string> old = commands_of(before);
  const std::set<std::string> now = commands_of(after);
  const std::string one = first_other(old, now);
  const std::string other = first_other(now, old);
  if (one.empty() && other.empty()) return "";
  std::string words = "The files were made by other commands";
  if (!one.empty()) words += "; only the first has: " + one;
  if (!other.empty()) words += "; only the second has: " + other;
  return words;
}

}  // namespace

std::vector<std::string> about_runs(std::span<const std::string> files,
                                    std::span<const std::vector<reports::StoredRun>> runs,
                                    std::ostream& notes) {
  std::vector<std::string> lost;
  const std::string first = unfinished_words(files[0]);
  if (!first.empty()) notes << "Note: " << first << ".\n";
  if (files.size() < 2) return lost;
  const std::string second = unfinished_words(files[1]);
  // Where both are cut short, the second lacks nothing that the first would have. A file beside
  // itself is noted once.
  if (!second.empty() && first.empty()) lost.push_back(second);
  if (!second.empty() && !first.empty() && second != first) notes << "Note: " << second << ".\n";
  const std::string commands = other_commands(runs[0], runs[1]);
  if (!commands.empty()) notes << "Note: " << commands << ".\n";
  return lost;
}

}  // namespace kv::cli
