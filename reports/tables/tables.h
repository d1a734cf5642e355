// Tables: rows of text that print for a terminal and as Markdown, HTML and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kv::reports {

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
// narrow, the first column is shortened a little, and the columns that do not fit follow below,
// with the first one and the budget again.
std::string to_text(const Table& table, std::size_t width);

// A number with `digits` decimals; a value that is not a number becomes "-" and, in CSV, an empty
// field.
Entry number_entry(double value, int digits);

}  // namespace kv::reports
