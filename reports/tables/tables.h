// Tables: rows of text that print for a terminal and as Markdown, HTML and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

struct Interval;
struct SpecSummary;

struct Column {
  std::string title;        // with its unit, for readers
  std::string name;         // for CSV: lower case with underscores
  bool number = false;      // aligned to the right
  bool exact_only = false;  // in CSV only; the other formats show it inside another column
};

// One cell in its two forms: rounded for readers, and exact for CSV.
struct Entry {
  std::string text;
  std::string exact;
};

// Every row has one entry per column.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Entry>> rows;
};

// RFC 4180: a header line, fields quoted where they must be, lines ended by LF.
std::string to_csv(const Table& table);

// A GitHub-style pipe table; pipes and line breaks in the text are escaped.
std::string to_markdown(const Table& table);

// A <table> with <thead> and <tbody>, with its text escaped. Cells with numbers have the exact
// value in data-value, for sorting.
std::string to_html(const Table& table);

// Aligned columns for a terminal of `width` characters; 0 stands for any width. If it is too
// narrow, the first column is shortened a little, then columns are left out from the right.
std::string to_text(const Table& table, std::size_t width);

// One row per spec, its seeds averaged, by retained mass, highest first: policy, budget, retained
// mass with its 95 % interval over heads, KL to dense, top-k overlap, output error, rows visible
// and stored, evictions, KiB. See reports/numbers/summary.h for what each number is.
Table summary_table(const ReplayResult& result);

// A number with `digits` decimals; a value that is not a number becomes "-" and, in CSV, an empty
// field.
Entry number_entry(double value, int digits);

// "0.9213 +- 0.0114"; the exact form is the mean alone. A single head has no interval.
Entry interval_entry(const Interval& interval);

// What a spec retains as a share of the optimum. If the optimum is not known, "≥" and the share
// of a bound that is never below the optimum.
Entry optimum_share_entry(const SpecSummary& summary);

// The meaning of each label, in the order of the cells: policy, budget, number of seeds, full spec.
Table specs_table(const ReplayResult& result);

// summary_table as text for a terminal, with one line under it that says what the interval is.
std::string summary_text(const ReplayResult& result, std::size_t width = 0);

}  // namespace kv::reports
