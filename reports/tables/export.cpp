#include "kvcheck/reports/tables/export.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/summary.h"

namespace kv::reports {
namespace {

// The fields of one object in order, for both formats.
class Record {
 public:
  Record& add(std::string_view name, std::string_view value) {
    return put(name, json_string(value), std::string(value));
  }

  Record& add(std::string_view name, double value) {
    return put(name, shortest(value), std::isfinite(value) ? shortest(value) : "");
  }

  Record& add(std::string_view name, std::uint64_t value) {
    return put(name, std::to_string(value), std::to_string(value));
  }

  // Adds a count of which 0 means that there is none.
  Record& add_unless_zero(std::string_view name, std::uint64_t value) {
    return value == 0 ? put(name, "null", "") : add(name, value);
  }

  [[nodiscard]] std::string json() const {
    JsonObject object;
    for (std::size_t i = 0; i < names_.size(); ++i) object.add_raw(names_[i], json_[i]);
    return object.text() + "\n";
  }

  [[nodiscard]] std::string header() const { return csv_line(names_); }

  [[nodiscard]] std::string line() const { return csv_line(plain_); }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // The line under a header with other names too; a field that the record lacks is empty.
  [[nodiscard]] std::string line_under(std::span<const std::string> header) const {
    std::vector<std::string> fields;
    for (const std::string& name : header) {
      const auto at = std::ranges::find(names_, name);
      fields.push_back(at == names_.end() ? ""
                                          : plain_[static_cast<std::size_t>(at - names_.begin())]);
    }
    return csv_line(fields);
  }

 private:
  Record& put(std::string_view name, std::string json, std::string plain) {
    names_.emplace_back(name);
    json_.push_back(std::move(json));
    plain_.push_back(std::move(plain));
    return *this;
  }

  std::vector<std::string> names_;
  std::vector<std::string> json_;
  std::vector<std::string> plain_;
};

// The first fields of every kind of record: which cell on which trace.
Record record_of(std::string_view type, const ReplayResult& result, const CellResult& cell) {
  const Spec& spec = cell.cell.spec;
  Record record;
  record.add("type", type)
      .add("trace", result.trace.name)
      .add("spec", spec.canonical())
      .add("policy", spec.policy->name)
      .add_unless_zero("budget", spec.budget)
      .add("seed", cell.cell.seed)
      .add("loop", result.trace.loop);
  return record;
}

void add_metrics(Record& record, const HeadMetrics& metrics) {
  record.add("retained_mass", metrics.retained_mass)
      .add("kl_to_dense", metrics.kl_to_dense)
      .add("topk_overlap", metrics.topk_overlap)
      .add("output_error", metrics.output_error);
}

void add_metrics_after(Record& record, const HeadMetrics& metrics) {
  record.add("retained_mass_after", metrics.retained_mass)
      .add("kl_to_dense_after", metrics.kl_to_dense)
      .add("topk_overlap_after", metrics.topk_overlap)
      .add("output_error_after", metrics.output_error);
}

// What a trace of some queries adds to a record.
void add_half_widths(Record& record, const HeadMetrics& all, const HeadMetrics& after) {
  record.add("retained_mass_half_width", all.retained_mass)
      .add("kl_to_dense_half_width", all.kl_to_dense)
      .add("topk_overlap_half_width", all.topk_overlap)
      .add("output_error_half_width", all.output_error)
      .add("retained_mass_after_half_width", after.retained_mass)
      .add("kl_to_dense_after_half_width", after.kl_to_dense)
      .add("topk_overlap_after_half_width", after.topk_overlap)
      .add("output_error_after_half_width", after.output_error);
}

void add_first_loss(Record& record, const AfterLoss& after) {
  // The first query sees itself, so 0 stands for no loss.
  record.add_unless_zero("first_loss", after.any() ? std::uint64_t{after.first()} : 0);
}

// Where the cell begins to lose tokens. The empty cell, of which only names are used, has no spec.
AfterLoss after_of(const ReplayResult& result, const CellResult& cell) {
  return result.trace.layers.empty() ? AfterLoss() : AfterLoss(cell.cell.spec, result.trace);
}

Record cell_record(const ReplayResult& result, const CellResult& cell) {
  Record record = record_of("cell", result, cell);
  const HeadMetrics means = means_of(cell);
  add_metrics(record, means);
  const OracleMeans oracle = oracle_of(cell);
  record.add("optimum", oracle.optimum)
      .add("optimum_share", optimum_share_of(cell.cell.spec, means.retained_mass, oracle.optimum))
      .add("per_step_bound", oracle.per_step)
      .add("greedy_oracle", oracle.greedy);
  const CellSizes sizes = sizes_of(cell);
  record.add("visible_mean", sizes.visible_mean)
      .add("visible_peak", sizes.visible_peak)
      .add("stored_mean", sizes.stored_mean)
      .add("stored_peak", sizes.stored_peak)
      .add("kept_at_end", sizes.kept_at_end)
      .add("evictions", sizes.evictions)
      .add("lifetime_mean", sizes.lifetime_mean)
      .add("trims", sizes.trims)
      .add("moved", sizes.moved)
      .add_unless_zero("bytes_peak", sizes.bytes_peak)
      .add("heads", cell.summary ? cell.summary->heads : cell.heads.size())
      .add("units", cell.summary ? cell.summary->units : cell.units.size())
      .add("tokens", result.trace.tokens)
      .add("top_k", result.top_k);
  const AfterLoss after = after_of(result, cell);
  const OracleMeans bounds = after_loss(oracle, after);
  const double retained = after.share(means.retained_mass);
  add_first_loss(record, after);
  add_metrics_after(record, after.of(means));
  record.add("optimum_after", bounds.optimum)
      .add("optimum_share_after", optimum_share_of(cell.cell.spec, retained, bounds.optimum))
      .add("per_step_bound_after", bounds.per_step)
      .add("greedy_oracle_after", bounds.greedy)
      .add("visible_mean_after", after.visible(sizes.visible_mean))
      .add("stored_mean_after", after.stored(sizes.stored_mean));
  if (result.trace.queries.empty()) return record;
  const std::optional<QueryDesign>& design = result.trace.query_design;
  record.add("queries", std::uint64_t{result.trace.queries.size()})
      .add("query_design", design ? text_of(*design) : "")
      .add("decided_by", cell.decided_on_sample ? "recorded queries" : "all that it looks at");
  add_half_widths(record, cell.half_widths, after.half_widths(cell.half_widths));
  return record;
}

Record head_record(const ReplayResult& result,
                   const CellResult& cell,
                   const AfterLoss& after,
                   const HeadResult& head) {
  Record record = record_of("head", result, cell);
  record.add("layer", head.layer).add("head", head.head);
  add_metrics(record, head.metrics);
  add_first_loss(record, after);
  add_metrics_after(record, after.of(head.metrics));
  if (result.trace.queries.empty()) return record;
  add_half_widths(record, head.half_widths, after.half_widths(head.half_widths));
  return record;
}

Record point_record(const ReplayResult& result, const CellResult& cell, const SeriesPoint& point) {
  Record record;
  record.add("spec", cell.cell.spec.canonical())
      .add("seed", cell.cell.seed)
      .add("first_step", std::uint64_t{point.first_step})
      .add("width", result.series_width)
      .add("retained_mass", point.retained_mass)
      .add("kl_to_dense", point.kl_to_dense)
      .add("topk_overlap", point.topk_overlap)
      .add("output_error", point.output_error)
      .add("stored", point.stored)
      .add("kept", point.kept)
      .add("visible", point.visible);
  return record;
}

// Lines under the header of a record of the same kind. The record gives the names even if there are
// no lines.
template <typename Lines>
std::string csv_of(const Record& empty, const ReplayResult& result, Lines lines) {
  std::string out = empty.header();
  for (const CellResult& cell : result.cells) lines(cell, out);
  return out;
}

// An empty cell, of which only the field names are used.
CellResult nameless_cell() {
  static const PolicyEntry no_token{};
  CellResult cell;
  cell.cell.spec.policy = &no_token;
  return cell;
}

// An empty trace, which has queries if the result's has some only: its records have more fields.
ReplayResult nameless_result(const ReplayResult& result) {
  ReplayResult nameless;
  if (!result.trace.queries.empty()) nameless.trace.queries = {0};
  return nameless;
}

}  // namespace

std::string json_lines(const ReplayResult& result, bool per_head) {
  std::string out;
  for (const CellResult& cell : result.cells) {
    out += cell_record(result, cell).json();
    if (!per_head) continue;
    const AfterLoss after = after_of(result, cell);
    for (const HeadResult& head : cell.heads) out += head_record(result, cell, after, head).json();
  }
  return out;
}

std::string cells_csv(const ReplayResult& result) {
  return csv_of(
      cell_record(nameless_result(result), nameless_cell()), result,
      [&](const CellResult& cell, std::string& out) { out += cell_record(result, cell).line(); });
}

std::string heads_csv(const ReplayResult& result) {
  return csv_of(head_record(nameless_result(result), nameless_cell(), {}, {}), result,
                [&](const CellResult& cell, std::string& out) {
                  const AfterLoss after = after_of(result, cell);
                  for (const HeadResult& head : cell.heads) {
                    out += head_record(result, cell, after, head).line();
                  }
                });
}

std::string cells_and_heads_csv(const ReplayResult& result) {
  std::vector<std::string> names = cell_record(nameless_result(result), nameless_cell()).names();
  const Record head_names = head_record(nameless_result(result), nameless_cell(), {}, {});
  for (const std::string& name : head_names.names()) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string out = csv_line(names);
  for (const CellResult& cell : result.cells) {
    out += cell_record(result, cell).line_under(names);
    const AfterLoss after = after_of(result, cell);
    for (const HeadResult& head : cell.heads) {
      out += head_record(result, cell, after, head).line_under(names);
    }
  }
  return out;
}

std::string series_csv(const ReplayResult& result) {
  return csv_of(point_record({}, nameless_cell(), {}), result,
                [&](const CellResult& cell, std::string& out) {
                  for (const SeriesPoint& point : cell.series) {
                    out += point_record(result, cell, point).line();
                  }
                });
}

}  // namespace kv::reports
