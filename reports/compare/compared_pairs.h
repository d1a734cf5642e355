// The parts that both kinds of comparison share: pairs of values, tests and their findings. Private
// to reports/compare.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/compare/compare_tables.h"

namespace kv::reports {

// What all tests of a comparison are corrected for.
struct Family {
  std::vector<std::vector<double>> columns{};
  std::vector<Contrast> contrasts{};
  std::vector<std::size_t> of_row{};  // by tested row, its contrast
};

// Why nothing has a loss_over_dense.
inline constexpr std::string_view no_dense =
    "loss_over_dense needs an evaluation in which dense stands beside specs that evict, with the "
    "same storage";

// The row of a spec before it is compared.
ComparedSpec row_of(const MeasuredSpec& spec, const std::string& name);

// One per spec.
std::vector<std::string> names_of(const MeasuredTexts& all);

// Such a name with the budget: "h2o at 64".
std::string named_at_budget(const MeasuredSpec& spec, const std::string& name);

// The mean of the values that were measured; NaN if none was.
double overall(const std::vector<double>& values);

// Sets means and test from the pairs of values that were both measured. Gives the differences by
// text, NaN where one was not.
std::vector<double> test_pairs(ComparedSpec& row,
                               const std::vector<double>& values,
                               const std::vector<double>& others,
                               const Comparison& comparison);

// The values with 0 where they were not measured, as in Family::columns.
std::vector<double> filled(std::vector<double> values);

// Adds the sentence "3 specs are in the first file only: NAME; NAME; NAME", if there are names.
void leave_out(Comparison& comparison,
               const std::vector<std::string>& names,
               const std::string& what,
               const std::string& where);

// The same of names that the second file should have, which the comparison also notes as lost.
void lose(Comparison& comparison,
          const std::vector<std::string>& names,
          const std::string& what,
          const std::string& where);

// Tests all rows, and sets findings and corrected p-values. A spec is not compared with itself:
// rows without pairs have no finding.
void find(Comparison& comparison, const Family& family);

}  // namespace kv::reports
