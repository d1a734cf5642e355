#include "kvcheck/reports/tables/kill_matrix.h"

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/reports/figures/figure_kills.h"

namespace kv::fuzz {

bool kill_matrix(Input input) {
  const auto parsed = reports::parse_kill_matrix(text_of(input));
  if (!parsed) return refused(parsed.error());
  for (const reports::MatrixRow& row : parsed->rows) {
    for (const reports::MatrixKill& kill : row.killed) KV_CHECK(kill.law < parsed->laws.size());
    KV_CHECK(row.killed.empty() == (reports::quickest_cell(*parsed, row) == nullptr));
  }
  KV_CHECK(reports::mutants_table(*parsed).rows.size() == parsed->rows.size());
  KV_CHECK(reports::killing_laws_table(*parsed).rows.size() == parsed->laws.size());
  KV_CHECK(!reports::kill_matrix_page(*parsed, "kill-matrix.png").empty());
  KV_CHECK(!reports::kill_summary(*parsed).empty());
  static_cast<void>(reports::kill_matrix_figure(*parsed));
  KV_CHECK(reports::read_kill_matrix(scratch_file("matrix.json", text_of(input))).has_value());
  return true;
}

}  // namespace kv::fuzz
