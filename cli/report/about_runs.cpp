#include "kvcheck/cli/report/about_runs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/report/unfinished_runs.h"

namespace kv::cli {
namespace {

constexpr std::array<std::string_view, 7> with_value = {
    "-o", "--output", "--json", "--csv", "--markdown", "--threads", "--shard"};
constexpr std::array<std::string_view, 3> alone = {"-q", "--quiet", "--resume"};

// The words as they were written: quotes around blanks stay.
std::vector<std::string> words_in(std::string_view command) {
  std::vector<std::string> words;
  bool quoted = false;
  bool begun = false;
  for (const char letter : command) {
    if (letter == '\'') quoted = !quoted;
    if (letter == ' ' && !quoted) {
      begun = false;
      continue;
    }
    if (!begun) words.emplace_back();
    begun = true;
    words.back() += letter;
  }
  return words;
}

std::string settings_in(std::string_view command) {
  std::vector<std::string> kept;
  bool skip = false;
  for (const std::string& word : words_in(command)) {
    const bool value = std::exchange(skip, false);
    skip = !value && std::ranges::find(with_value, word) != with_value.end();
    const std::string_view option = std::string_view(word).substr(0, word.find('='));
    const bool joined = std::ranges::find(with_value, option) != with_value.end();
    if (value || joined || std::ranges::find(alone, word) != alone.end()) continue;
    kept.push_back(word);
  }
  return join(kept, " ");
}

std::set<std::string> settings_of(std::span<const reports::StoredRun> runs) {
  std::set<std::string> all;
  for (const reports::StoredRun& run : runs) all.insert(settings_in(run.summary.command));
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

// A sentence if the commands differ in more than where results are written, how many threads ran,
// and what is shown meanwhile; empty otherwise.
std::string other_commands(std::span<const reports::StoredRun> before,
                           std::span<const reports::StoredRun> after) {
  const std::set<std::string> old = settings_of(before);
  const std::set<std::string> now = settings_of(after);
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
  // Where both are cut short, the second lacks nothing that the first would have.
  if (!second.empty() && first.empty()) lost.push_back(second);
  if (!second.empty() && !first.empty() && second != first) notes << "Note: " << second << ".\n";
  const std::string commands = other_commands(runs[0], runs[1]);
  if (!commands.empty()) notes << "Note: " << commands << ".\n";
  return lost;
}

}  // namespace kv::cli
