#include <string>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/store/blob.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/stored_names.h"

namespace kv::reports {
namespace {

std::string list_of(const std::vector<std::size_t>& numbers) {
  std::vector<std::string> words;
  words.reserve(numbers.size());
  for (const std::size_t number : numbers) words.push_back(std::to_string(number));
  return join(words, ",");
}

Result<void> insert_header(Database& database, const RunPlace& place, const ReplayResult& result) {
  Statement insert(database,
                   "INSERT INTO traces (id, run, ordinal, name, kind, model, source, licence, loop,"
                   " tokens, query_heads, kv_heads, head_dim, layers, trained_context, rope_layout,"
                   " rope_dims, rope_theta, number, checksum, top_k, series_width, map_layer,"
                   " map_head, map_side, map_block, map_mass) VALUES"
                   " (nullif(?,0),?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const TraceInfo& trace = result.trace;
  const AttentionMap& map = result.map;
  const std::string layers = list_of(trace.layers);
  const std::string checksum = hexadecimal(trace.checksum);
  const auto text = [](const std::string& words) { return std::string_view(words); };
  return insert.run(place.id, place.run, place.ordinal, text(trace.name), stored_word(trace.kind),
                    text(trace.model), text(trace.source), text(trace.licence), text(trace.loop),
                    trace.tokens, trace.query_heads, trace.kv_heads, trace.head_dim, text(layers),
                    trace.trained_context, stored_word(trace.rope.layout), trace.rope.dims,
                    trace.rope.theta, stored_word(trace.number), text(checksum), result.top_k,
                    result.series_width, map.layer, map.head, map.side, map.block,
                    as_blob(map.mass));
}

Result<void> insert_dense(Database& database, std::int64_t trace, const ReplayResult& result) {
  Statement insert(database, "INSERT INTO dense VALUES (?,?,?,?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const DenseFacts& head : result.dense) {
    const auto done = insert.run(trace, ordinal++, head.layer, head.head, head.first_mass,
                                 head.sinks_mass, head.recent_mass, head.entropy);
    if (!done) return done.error();
  }
  return {};
}

// The statements that every cell uses, prepared once per trace.
class CellInserter {
 public:
  explicit CellInserter(Database& database)
      : database_(database),
        cell_(database,
              "INSERT INTO cells (id, trace, ordinal, spec, policy, label, budget, seed, "
              "bytes_per_row,"
              " kept, lifetimes) VALUES (nullif(?,0),?,?,?,?,?,?,?,?,?,?)"),
        head_(database, "INSERT INTO heads VALUES (?,?,?,?,?,?,?,?)"),
        unit_(database, "INSERT INTO units VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        point_(database, "INSERT INTO series VALUES (?,?,?,?,?,?,?,?,?,?)"),
        residency_(database, "INSERT INTO residency VALUES (?,?,?,?,?)"),
        bounds_(database, "INSERT INTO bounds VALUES (?,?,?,?,?,?,?,?)"),
        first_loss_(database, "INSERT INTO first_losses VALUES (?,?)"),
        summary_(database, "INSERT INTO summaries VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        sampled_cell_(database, "INSERT INTO sampled_cells VALUES (?,?,?,?,?,?)"),
        sampled_head_(database, "INSERT INTO sampled_heads VALUES (?,?,?,?,?,?)") {}

  Result<void> insert(std::int64_t trace,
                      const CellPlace& place,
                      const TraceInfo& info,
                      const CellResult& result) {
    const Spec& spec = result.cell.spec;
    const std::string canonical = spec.canonical();
    const std::string label = spec.label();
    // As text, because an integer of SQLite has a sign and a seed uses all 64 bits.
    const std::string seed = std::to_string(result.cell.seed);
    const auto done =
        cell_.run(place.id, trace, place.ordinal, std::string_view(canonical), spec.policy->name,
                  std::string_view(label), spec.budget, std::string_view(seed),
                  result.bytes_per_row, as_blob(result.kept), as_blob(result.lifetimes));
    if (!done) return done.error();
    const std::int64_t cell = database_.last_id();
    if (result.summary) {
      if (const auto row = insert_summary(cell, *result.summary); !row) return row.error();
    }
    if (const auto rows = insert_heads(cell, result); !rows) return rows.error();
    if (const auto rows = insert_units(cell, result); !rows) return rows.error();
    if (const auto rows = insert_series(cell, result); !rows) return rows.error();
    if (const auto rows = insert_bounds(cell, result); !rows) return rows.error();
    const std::uint64_t loss = AfterLoss(spec, info).first();
    if (const auto row = first_loss_.run(cell, loss); !row) return row.error();
    if (!info.queries.empty()) {
      if (const auto rows = insert_intervals(cell, result); !rows) return rows.error();
    }
    return insert_residency(cell, result);
  }

 private:
  Result<void> insert_summary(std::int64_t cell, const CellSummary& summary) {
    const HeadMetrics& m = summary.means;
    const CellSizes& s = summary.sizes;
    return summary_.run(cell, summary.heads, summary.units, m.retained_mass, m.kl_to_dense,
                        m.topk_overlap, m.output_error, s.visible_mean, s.visible_peak,
                        s.stored_mean, s.stored_peak, s.kept_at_end, s.evictions, s.trims, s.moved,
                        s.lifetime_mean, s.bytes_peak);
  }

  Result<void> insert_heads(std::int64_t cell, const CellResult& result) {
    std::int64_t ordinal = 0;
    for (const HeadResult& head : result.heads) {
      const HeadMetrics& m = head.metrics;
      const auto done = head_.run(cell, ordinal++, head.layer, head.head, m.retained_mass,
                                  m.kl_to_dense, m.topk_overlap, m.output_error);
      if (!done) return done.error();
    }
    return {};
  }

  Result<void> insert_intervals(std::int64_t cell, const CellResult& result) {
    const auto insert = [](Statement& into, std::int64_t id, auto second, const HeadMetrics& h) {
      return into.run(id, second, h.retained_mass, h.kl_to_dense, h.topk_overlap, h.output_error);
    };
    const std::int64_t decided = result.decided_on_sample ? 1 : 0;
    const auto done = insert(sampled_cell_, cell, decided, result.half_widths);
    if (!done) return done.error();
    std::int64_t ordinal = 0;
    for (const HeadResult& head : result.heads) {
      const auto row = insert(sampled_head_, cell, ordinal++, head.half_widths);
      if (!row) return row.error();
    }
    return {};
  }

  Result<void> insert_units(std::int64_t cell, const CellResult& result) {
    std::int64_t ordinal = 0;
    for (const UnitResult& u : result.units) {
      const auto done =
          unit_.run(cell, ordinal++, u.layer, u.head, u.stored_mean, u.stored_peak, u.visible_mean,
                    u.visible_peak, u.kept_at_end, u.evictions, u.trims, u.moved, u.lifetime_mean);
      if (!done) return done.error();
    }
    return {};
  }

  Result<void> insert_series(std::int64_t cell, const CellResult& result) {
    std::int64_t ordinal = 0;
    for (const SeriesPoint& p : result.series) {
      const auto done = point_.run(cell, ordinal++, p.first_step, p.retained_mass, p.kl_to_dense,
                                   p.topk_overlap, p.output_error, p.stored, p.kept, p.visible);
      if (!done) return done.error();
    }
    return {};
  }

  Result<void> insert_bounds(std::int64_t cell, const CellResult& result) {
    std::int64_t ordinal = 0;
    for (const UnitBounds& unit : result.bounds) {
      const auto done = bounds_.run(cell, ordinal++, unit.layer, unit.head, unit.heads,
                                    unit.optimum, unit.per_step, unit.greedy);
      if (!done) return done.error();
    }
    return {};
  }

  Result<void> insert_residency(std::int64_t cell, const CellResult& result) {
    std::int64_t ordinal = 0;
    for (const Residency& unit : result.residency) {
      const auto done =
          residency_.run(cell, ordinal++, unit.layer, unit.head, as_blob(unit.evicted_at));
      if (!done) return done.error();
    }
    return {};
  }

  Database& database_;
  Statement cell_;
  Statement head_;
  Statement unit_;
  Statement point_;
  Statement residency_;
  Statement bounds_;
  Statement first_loss_;
  Statement summary_;
  Statement sampled_cell_;
  Statement sampled_head_;
};

// Which queries and kv-heads are recorded; no row if these are all.
Result<void> insert_sample(Database& database, std::int64_t trace, const TraceInfo& info) {
  if (!info.queries.empty()) {
    Statement insert(database, "INSERT INTO sampled_traces VALUES (?,?,?)");
    const std::string design = info.query_design ? text_of(*info.query_design) : "";
    const auto done = insert.run(trace, std::string_view(design), as_blob(info.queries));
    if (!done) return done.error();
  }
  if (info.kv_head_numbers.empty()) return {};
  Statement insert(database, "INSERT INTO recorded_kv_heads VALUES (?,?)");
  const std::string numbers = list_of(info.kv_head_numbers);
  return insert.run(trace, std::string_view(numbers));
}

}  // namespace

Result<void> insert_marks(Database& database,
                          const std::string& table,
                          std::int64_t id,
                          const Marks& marks) {
  Statement insert(database, ("INSERT INTO " + table + " VALUES (?,?,?)").c_str());
  return insert.run(id, marks.prompt, marks.question);
}

Result<void> insert_inputs(Database& database,
                           const std::string& table,
                           std::int64_t id,
                           const ModelInputs& inputs) {
  if (inputs == ModelInputs()) return {};
  Statement insert(database, ("INSERT INTO " + table + " VALUES (?,?,?)").c_str());
  const std::string weights = hexadecimal(inputs.weights);
  const std::string cell = hexadecimal(inputs.cell);
  return insert.run(id, std::string_view(weights), std::string_view(cell));
}

Result<std::int64_t> insert_trace_alone(Database& database,
                                        const RunPlace& place,
                                        const ReplayResult& result) {
  if (const auto done = insert_header(database, place, result); !done) return done.error();
  const std::int64_t trace = database.last_id();
  if (result.trace.marks.known()) {
    const auto done = insert_marks(database, "marks", trace, result.trace.marks);
    if (!done) return done.error();
  }
  if (const auto done = insert_sample(database, trace, result.trace); !done) return done.error();
  if (const auto done = insert_dense(database, trace, result); !done) return done.error();
  return trace;
}

Result<void> insert_cells(Database& database,
                          std::int64_t trace,
                          const ReplayResult& result,
                          std::span<const CellPlace> places) {
  KV_CHECK(places.size() == result.cells.size());
  CellInserter inserter(database);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto done = inserter.insert(trace, places[i], result.trace, result.cells[i]);
    if (!done) return done.error();
  }
  return {};
}

std::vector<CellPlace> places_in_order(std::size_t cells) {
  std::vector<CellPlace> places(cells);
  for (std::size_t i = 0; i < cells; ++i) places[i].ordinal = static_cast<std::int64_t>(i);
  return places;
}

Result<void> insert_trace(Database& database, const RunPlace& place, const ReplayResult& result) {
  const auto trace = insert_trace_alone(database, place, result);
  if (!trace) return trace.error();
  return insert_cells(database, *trace, result, places_in_order(result.cells.size()));
}

}  // namespace kv::reports
