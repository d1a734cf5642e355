// The kill matrix: which law kills which mutant, after how many cases. Read from the output of
// kvcheck selftest --json, and written as tables and a page. Its figure is in
// reports/figures/figure_kills.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

struct MatrixLaw {
  std::string id;
  bool statistical = false;  // measured on streams, not tried on cases
};

// One law that kills a mutant.
struct MatrixKill {
  std::size_t law = 0;      // index into KillMatrix::laws
  std::uint64_t cases = 0;  // that it took; 1 for a statistical law
};

struct MatrixRow {
  std::string mutant;
  std::string wrong;               // what is wrong with it
  std::string source;              // where it was seen
  std::string equivalent;          // why no law can kill it; empty: a law must
  std::string verdict;             // "killed", "LIVES", "equivalent" or "KILLED"
  std::string smallest;            // the smallest counterexample of the quickest law
  std::vector<MatrixKill> killed;  // in the order of the laws
};

struct KillMatrix {
  bool passed = false;
  bool whole = false;  // all mutants were tried, so that a law without a cell is idle
  std::uint64_t seed = 0;
  std::uint64_t right_subjects = 0;
  std::uint64_t right_batteries = 0;  // run on them
  std::vector<MatrixLaw> laws;
  std::vector<MatrixRow> rows;
  std::vector<std::string> idle;     // laws that killed nothing
  std::vector<std::string> accused;  // "SUBJECT of LAW, seed N"
};

// Parses the JSON text. Errors name the field.
Result<KillMatrix> parse_kill_matrix(std::string_view json);

// The same for a file; errors name it.
Result<KillMatrix> read_kill_matrix(const std::string& path);

// The cell whose law needed the fewest cases; laws that are tried on cases come before statistical
// ones. Null for a row without cells.
const MatrixKill* quickest_cell(const KillMatrix& matrix, const MatrixRow& row);

// "3", or "statistics".
std::string cases_text(const KillMatrix& matrix, const MatrixKill& cell);

// "170 of 171 mutants are killed; 1 is declared equivalent. Each of the 93 laws kills ...".
std::string kill_summary(const KillMatrix& matrix);

// One row per mutant: what is wrong, where it was seen, how many laws kill it, the quickest of
// them, its cases and its smallest counterexample.
Table mutants_table(const KillMatrix& matrix);

// One row per law: how many mutants it kills, and those that no other law kills.
Table killing_laws_table(const KillMatrix& matrix);

// The matrix as a page in Markdown, with all laws that kill each mutant. `figure` is the path of
// the drawing relative to the page; empty: no drawing.
std::string kill_matrix_page(const KillMatrix& matrix, std::string_view figure);

}  // namespace kv::reports
