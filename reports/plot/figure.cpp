#include "kvcheck/reports/plot/figure.h"

#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"

namespace kv::reports {

FigureData::FigureData(std::vector<std::string> columns) {
  columns.insert(columns.begin(), "policy");
  columns_ = columns.size();
  csv_ = csv_line(columns);
}

std::string FigureData::begin(std::string_view label, std::string_view panel) {
  if (blocks_ > 0) script_ += "EOD\n";
  label_ = {std::string(label)};
  if (!panel.empty()) label_.emplace_back(panel);
  std::string name = "$d" + std::to_string(blocks_++);
  script_ += name + " << EOD\n";
  return name;
}

void FigureData::plot_row(const std::vector<double>& values) {
  for (const double value : values) {
    script_ += (std::isfinite(value) ? shortest(value) : "NaN") + " ";
  }
  script_ += "\n";
}

void FigureData::row(const std::vector<double>& values) {
  plot_row(values);
  std::vector<std::string> fields = label_;
  for (const double value : values) fields.push_back(std::isfinite(value) ? shortest(value) : "");
  KV_CHECK(fields.size() == columns_);  // a reader of the CSV finds fields by the header
  csv_ += csv_line(fields);
}

void FigureData::empty_row(const std::vector<double>& values) {
  plot_row(values);
}

void FigureData::gap() {
  script_ += "\n";
}

void FigureData::finish(Figure& figure) {
  if (blocks_ > 0) script_ += "EOD\n";
  figure.data = std::move(script_);
  figure.csv = std::move(csv_);
}

}  // namespace kv::reports
