#include "kvcheck/reports/tables/tables.h"

#include <algorithm>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {
namespace {

constexpr std::size_t readable_label = 36;
constexpr std::string_view gap = "  ";

// The widths of the columns; a column that is left out has width 0.
std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = display_width(table.columns[c].title);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[c].text));
    widths.push_back(table.columns[c].exact_only ? 0 : width);
  }
  return widths;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == 0 ? 0 : width + gap.size();
  return sum == 0 ? 0 : sum - gap.size();
}

// Shortens the first column to no less than `least` if the table is wider than `width`.
void shorten_first(std::vector<std::size_t>& widths, std::size_t width, std::size_t least) {
  const std::size_t all = total(widths);
  if (all <= width || widths[0] <= least) return;
  widths[0] = std::max(least, widths[0] - std::min(widths[0], all - width));
}

// The columns of each part of a table that is divided at `width`: the first column, and the budget
// if there is one, tell the rows apart and begin every part.
std::vector<std::vector<std::size_t>> parts_of(const Table& table,
                                               const std::vector<std::size_t>& widths,
                                               std::size_t width) {
  std::vector<std::size_t> keys = {0};
  std::size_t used_by_keys = widths[0];
  for (std::size_t c = 1; c < widths.size(); ++c) {
    if (table.columns[c].name != "budget" || widths[c] == 0) continue;
    keys.push_back(c);
    used_by_keys += gap.size() + widths[c];
  }
  std::vector<std::vector<std::size_t>> parts = {keys};
  std::size_t used = used_by_keys;
  for (std::size_t c = 1; c < widths.size(); ++c) {
    if (widths[c] == 0 || std::ranges::find(keys, c) != keys.end()) continue;
    if (width > 0 && used + gap.size() + widths[c] > width && parts.back().size() > keys.size()) {
      parts.push_back(keys);
      used = used_by_keys;
    }
    parts.back().push_back(c);
    used += gap.size() + widths[c];
  }
  for (std::vector<std::size_t>& part : parts) std::ranges::sort(part);
  return parts;
}

// The column of labels, shortened such that different labels remain different.
std::vector<std::string> first_column(const Table& table, std::size_t width) {
  std::vector<std::string> texts;
  for (const auto& row : table.rows) texts.push_back(row[0].text);
  return shortened_apart(texts, width);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string shown = shortened(text, width);
  const std::string space(width - display_width(shown), ' ');
  return right ? space + shown : shown + space;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// One line of a part of the table; `text_of` returns the text of a column.
template <typename TextOf>
std::string text_line(const Table& table,
                      const std::vector<std::size_t>& part,
                      const std::vector<std::size_t>& widths,
                      TextOf text_of) {
  std::string line;
  for (const std::size_t c : part) {
    if (!line.empty()) line += gap;
    line += padded(text_of(c), widths[c], table.columns[c].number);
  }
  return trimmed(line);
}

}  // namespace

std::string to_csv(const Table& table) {
  std::vector<std::string> fields;
  for (const Column& column : table.columns) fields.push_back(column.name);
  std::string out = csv_line(fields);
  for (const auto& row : table.rows) {
    fields.clear();
    for (const Entry& entry : row) fields.push_back(entry.exact);
    out += csv_line(fields);
  }
  return out;
}

std::string to_markdown(const Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    if (column.exact_only) continue;
    head += " " + markdown_escaped(column.title) + " |";
    rule += column.number ? " ---: |" : " --- |";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!table.columns[c].exact_only) out += " " + markdown_escaped(row[c].text) + " |";
    }
    out += "\n";
  }
  return out;
}

std::string to_html(const Table& table) {
  std::string out = "<table>\n<thead><tr>";
  for (const Column& column : table.columns) {
    if (column.exact_only) continue;
    out += column.number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">";
    out += html_escaped(column.title) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Column& column = table.columns[c];
      if (column.exact_only) continue;
      out += column.number ? "<td class=\"n\" data-value=\"" + html_escaped(row[c].exact) + "\">"
                           : std::string("<td>");
      out += html_escaped(row[c].text) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

std::string to_text(const Table& table, std::size_t width) {
  std::vector<std::size_t> widths = widths_of(table);
  if (widths.empty()) return "\n";
  if (width > 0) shorten_first(widths, width, readable_label);
  const std::vector<std::string> labels = first_column(table, widths[0]);
  std::string out;
  for (const std::vector<std::size_t>& part : parts_of(table, widths, width)) {
    if (!out.empty()) out += "\n";
    out += text_line(table, part, widths, [&](std::size_t c) { return table.columns[c].title; });
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& row = table.rows[r];
      out += text_line(table, part, widths,
                       [&](std::size_t c) { return c == 0 ? labels[r] : row[c].text; });
    }
  }
  return out;
}

}  // namespace kv::reports
