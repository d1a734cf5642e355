// The means of several measures over texts, in one table without tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

// Measured texts of each measure that has some, in the order of the columns.
struct MeasuredMeans {
  Measure measure;
  MeasuredTexts values;
};

// A row for each spec that any of them has: caches that store no more than their budget first, then
// by budget, then by the first measure, the best first. Each mean is over the texts that have a
// value, with its 95 % interval (mean_interval). A row with fewer texts than others says how many.
Table means_table(const std::vector<MeasuredMeans>& all);

// What the numbers are, and the rank correlation of the first measure with each other one, over the
// specs that are ranked with each other, and over the best of these by the first measure.
std::string means_words(const std::vector<MeasuredMeans>& all);

// One line of JSON per row.
std::string means_json(const std::vector<MeasuredMeans>& all);

}  // namespace kv::reports
