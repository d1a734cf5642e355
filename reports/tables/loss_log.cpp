#include "kvcheck/reports/tables/loss_log.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"

namespace kv::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_text = std::uint64_t{1} << 32;
constexpr std::size_t first_segment = 1024;  // targets of the table's first column of perplexity
constexpr double largest_loss = 700;         // above it exp() of the loss overflows

// The places of the two columns, and the number of columns.
struct LogColumns {
  std::size_t length = 0;
  std::size_t loss = 0;
  std::size_t count = 0;
};

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Result<std::size_t> column_of(std::span<const std::string_view> names, std::string_view requested) {
  const auto at = std::ranges::find(names, requested);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  return malformed("line 1: no column '" + std::string(requested) +
                   "'; a log's header names input_length and nll");
}

Result<LogColumns> columns_of(std::string_view header) {
  const std::vector<std::string_view> names = split(header, ',');
  const auto length = column_of(names, "input_length");
  if (!length) return length.error();
  const auto loss = column_of(names, "nll");
  if (!loss) return loss.error();
  return LogColumns{.length = *length, .loss = *loss, .count = names.size()};
}

Result<LossPoint> point_of(std::string_view line, const LogColumns& columns) {
  const std::vector<std::string_view> fields = split(line, ',');
  if (fields.size() != columns.count) {
    return malformed(std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                     "; expected " + std::to_string(columns.count) + ", as the header names");
  }
  const auto length = parse_count(fields[columns.length], "input_length", 1, longest_text);
  if (!length) return length.error();
  const auto nats = parse_real(fields[columns.loss], "nll", 0, largest_loss);
  if (!nats) return nats.error();
  return LossPoint{.first = *length - 1, .targets = 1, .nats = *nats};
}

bool is_log(const FolderEntry& entry) {
  return fs::path(entry.name).extension() == ".csv";
}

// "; there are some in 'a/x' and 'a/y'", or nothing.
std::string folders_with_logs(const std::string& folder, const std::vector<FolderEntry>& entries) {
  std::vector<std::string> found;
  for (const FolderEntry& entry : entries) {
    const std::string inner = (fs::path(folder) / entry.name).string();
    const auto files = entries_of(inner);
    if (files && std::ranges::any_of(*files, is_log)) found.push_back("'" + inner + "'");
  }
  return found.empty() ? "" : "; there are some in " + join(found, " and ");
}

}  // namespace

Result<std::vector<LossPoint>> parse_loss_log(std::string_view csv) {
  std::vector<LossPoint> series;
  std::optional<LogColumns> columns;
  std::size_t number = 0;
  for (const std::string_view raw : split(csv, '\n')) {
    const std::string_view line = without_return(raw);
    ++number;
    if (!columns) {
      const auto found = columns_of(line);
      if (!found) return found.error();
      columns = *found;
      continue;
    }
    if (line.empty()) continue;
    const std::string place = "line " + std::to_string(number) + ": ";
    const auto point = point_of(line, *columns);
    if (!point) return malformed(place + point.error().message);
    if (!series.empty() && point->first <= series.back().first) {
      return malformed(place + "input_length " + std::to_string(point->first + 1) + " after " +
                       std::to_string(series.back().first + 1) + "; expected a larger one");
    }
    series.push_back(*point);
  }
  if (series.empty()) return malformed("no targets: nothing follows the header");
  return series;
}

Result<LossLogs> read_loss_logs(const std::string& folder) {
  const auto entries = entries_of(folder);
  if (!entries) {
    return Error{Error::Kind::not_found, "the folder of logs: " + entries.error().message};
  }
  std::vector<fs::path> paths;
  for (const FolderEntry& entry : *entries) {
    if (is_log(entry)) paths.push_back(fs::path(folder) / entry.name);
  }
  if (paths.empty()) {
    return Error{Error::Kind::not_found, "'" + folder +
                                             "' holds no log; expected files that end "
                                             "in .csv" +
                                             folders_with_logs(folder, *entries)};
  }
  std::error_code failure;
  const fs::path place = fs::absolute(folder, failure).lexically_normal();
  LossLogs model;
  model.name = (place.has_filename() ? place : place.parent_path()).filename().string();
  for (const fs::path& path : paths) {
    const auto file = MappedFile::open(path.string());
    if (!file) return file.error();
    const auto bytes = file.value().bytes();
    auto series = parse_loss_log({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!series) {
      return Error{series.error().kind, "'" + path.string() + "': " + series.error().message};
    }
    model.logs.push_back({.label = path.stem().string(), .series = *std::move(series)});
  }
  return model;
}

Table loss_log_table(std::span<const LossLogs> models) {
  Table table{.columns = {{.title = "model", .name = "model"},
                          {.title = "log", .name = "log"},
                          {.title = "targets", .name = "targets", .number = true},
                          {.title = "perplexity", .name = "perplexity", .number = true}},
              .rows = {}};
  std::vector<Segment> most;
  for (const LossLogs& model : models) {
    for (const LossLog& log : model.logs) {
      const std::vector<Segment> segments = segments_of(log.series, first_segment);
      if (segments.size() > most.size()) most = segments;
    }
  }
  for (const Segment& segment : most) {
    const std::string range = std::to_string(segment.first) + "-" + std::to_string(segment.last);
    table.columns.push_back({.title = range, .name = "perplexity_" + range, .number = true});
  }
  for (const LossLogs& model : models) {
    for (const LossLog& log : model.logs) {
      LossPoint all;
      for (const LossPoint& point : log.series) {
        all.targets += point.targets;
        all.nats += point.nats;
      }
      std::vector<Entry> row = {{model.name, model.name},
                                {log.label, log.label},
                                {with_commas(all.targets), std::to_string(all.targets)},
                                perplexity_entry(perplexity_of(all.nats, all.targets))};
      for (const Segment& segment : segments_of(log.series, first_segment)) {
        row.push_back(segment.targets == 0 ? Entry{} : perplexity_entry(segment.perplexity()));
      }
      row.resize(table.columns.size());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace kv::reports
