// The kill matrix as text: two tables and a page.
#include <algorithm>

#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/tables/kill_matrix.h"

namespace kv::reports {
namespace {

Entry words(const std::string& text) {
  return {text, text};
}

Entry count(std::size_t value) {
  return words(std::to_string(value));
}

std::string killers_text(const KillMatrix& matrix, const MatrixRow& row) {
  std::string text;
  for (const MatrixKill& cell : row.killed) {
    text += (text.empty() ? "" : ", ") + matrix.laws[cell.law].id + " (" +
            cases_text(matrix, cell) + ")";
  }
  return text;
}

std::string in_code(const std::string& text) {
  return text.empty() ? "" : "`" + markdown_escaped(text) + "`";
}

// The quickest law and its number of cases; the other laws are folded.
std::string killers_markdown(const KillMatrix& matrix, const MatrixRow& row) {
  const MatrixKill* const best = quickest_cell(matrix, row);
  if (best == nullptr) {
    return row.equivalent.empty() ? "**lives**" : "equivalent: " + markdown_escaped(row.equivalent);
  }
  std::string text = matrix.laws[best->law].id + " (" + cases_text(matrix, *best) + ")";
  if (row.killed.size() == 1) return text;
  std::string others;
  for (const MatrixKill& cell : row.killed) {
    if (&cell == best) continue;
    others += (others.empty() ? "" : ", ") + matrix.laws[cell.law].id + " (" +
              cases_text(matrix, cell) + ")";
  }
  return text + " <details><summary>and " + std::to_string(row.killed.size() - 1) +
         " more</summary>" + others + "</details>";
}

}  // namespace

Table mutants_table(const KillMatrix& matrix) {
  Table table;
  table.columns = {{.title = "Mutant", .name = "mutant"},
                   {.title = "What is wrong", .name = "wrong"},
                   {.title = "Seen in", .name = "source"},
                   {.title = "Verdict", .name = "verdict"},
                   {.title = "Laws", .name = "laws", .number = true},
                   {.title = "First law", .name = "first_law"},
                   {.title = "Cases", .name = "cases"},
                   {.title = "Smallest counterexample", .name = "smallest"},
                   {.title = "Killed by", .name = "killed_by", .exact_only = true}};
  for (const MatrixRow& row : matrix.rows) {
    const MatrixKill* const best = quickest_cell(matrix, row);
    const bool said = row.equivalent.empty();
    table.rows.push_back({words(row.mutant), words(row.wrong), words(row.source),
                          words(said ? row.verdict : row.verdict + ": " + row.equivalent),
                          count(row.killed.size()),
                          words(best == nullptr ? "" : matrix.laws[best->law].id),
                          words(best == nullptr ? "" : cases_text(matrix, *best)),
                          words(row.smallest), words(killers_text(matrix, row))});
  }
  return table;
}

Table killing_laws_table(const KillMatrix& matrix) {
  Table table;
  table.columns = {{.title = "Law", .name = "law"},
                   {.title = "Mutants", .name = "mutants", .number = true},
                   {.title = "First for", .name = "first_for", .number = true},
                   {.title = "Killed by no other", .name = "alone"}};
  for (std::size_t law = 0; law < matrix.laws.size(); ++law) {
    std::size_t kills = 0;
    std::size_t first = 0;
    std::string alone;
    for (const MatrixRow& row : matrix.rows) {
      if (std::ranges::find(row.killed, law, &MatrixKill::law) == row.killed.end()) continue;
      ++kills;
      if (quickest_cell(matrix, row)->law == law) ++first;
      if (row.killed.size() == 1) alone += (alone.empty() ? "" : ", ") + row.mutant;
    }
    table.rows.push_back({words(matrix.laws[law].id), count(kills), count(first), words(alone)});
  }
  return table;
}

std::string kill_matrix_page(const KillMatrix& matrix, std::string_view figure) {
  std::string out =
      "# The kill matrix\n\n"
      "Written by `kvcheck selftest --seed " +
      std::to_string(matrix.seed) +
      "`, which tries the laws on mutants: caches with one known\nfault each.\n\n" +
      kill_summary(matrix) +
      "\n\n"
      "A number in brackets is how many cases the law needed to find the fault; *statistics*\n"
      "means that it measured many streams instead. The smallest counterexample is a case that\n"
      "breaks the first law named. `kvcheck check --reproduce` takes it as `LAW/CASE`.\n\n";
  if (!figure.empty()) {
    out += "![Which law kills which mutant](" + std::string(figure) + ")\n\n";
  }
  out +=
      "## Mutants\n\n"
      "| Mutant | What is wrong | Seen in | Killed by (cases) | Smallest counterexample |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const MatrixRow& row : matrix.rows) {
    out += "| " + markdown_escaped(row.mutant) + " | " + markdown_escaped(row.wrong) + " | " +
           markdown_escaped(row.source) + " | " + killers_markdown(matrix, row) + " | " +
           in_code(row.smallest) + " |\n";
  }
  return out +
         "\n## Laws\n\nHow many mutants each law kills, and for how many it is the first.\n\n" +
         to_markdown(killing_laws_table(matrix));
}

}  // namespace kv::reports
