#include "kvcheck/cli/judge/beside.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/properties/laws/judging/facts.h"
#include "kvcheck/properties/stop.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/retained/retained.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

using properties::Block;
using properties::Event;
using properties::History;
using properties::HistoryFile;
using properties::RecordedPart;
using properties::RunHead;
using properties::Setup;

// Longer streams have no optimum, as in a replay.
constexpr std::size_t most_exact = 2048;

struct Run {
  RunHead head;
  RecordedPart part;
};

Result<Run> read_only_run(HistoryFile& file, const std::string& name, std::uint64_t bytes) {
  const auto head = file.next_run();
  if (!head) return head.error();
  if (!*head) return malformed(name + " has no run; expected a head line, HISTORY.md");
  const Setup& setup = (*head)->setup;
  auto part = file.read(**head, Block{.layers = setup.layers, .kv_heads = setup.kv_heads}, bytes);
  if (!part) return part.error();
  if (part->cut) {
    return Error{Error::Kind::unsupported,
                 name +
                     ": the rows of the run need more memory to be compared with a trace; give "
                     "it more --memory"};
  }
  const auto next = file.next_run();
  if (!next) return next.error();
  if (*next) {
    return malformed(name + ", line " + std::to_string((*next)->line) +
                     ": a second run; a trace is compared with one");
  }
  return Run{**head, *std::move(part)};
}

Result<void> check_calls(const Run& run, const std::string& name) {
  const auto wrong = [&](std::size_t event, const std::string& what) {
    return malformed(name + ", line " + std::to_string(run.part.lines[event]) + ": " + what +
                     "; a run is compared with a trace if it only feeds tokens, on one branch");
  };
  const std::vector<Event>& events = run.part.history.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].refused) continue;
    if (events[i].call.kind != properties::Call::Kind::feed)
      return wrong(i, "a call of another kind");
    if (events[i].call.branch > 0) return wrong(i, "a call on branch 1");
  }
  if (!run.part.no_mask.empty()) return malformed(name + ", " + run.part.no_mask);
  return {};
}

std::string heads_words(std::size_t layers, std::size_t query_heads, std::size_t kv_heads) {
  return std::to_string(layers) + " layers of " + std::to_string(query_heads) +
         " query heads and " + std::to_string(kv_heads) + " kv-heads";
}

Result<void> check_fits(const Run& run, const TraceInfo& info) {
  const Setup& setup = run.head.setup;
  const std::size_t fed =
      run.part.history.events.empty() ? 0 : run.part.history.events.back().branch.size();
  if (setup.sequences > 1) {
    return usage_error("--trace: the run has " + std::to_string(setup.sequences) +
                       " sequences; expected one, as in a trace");
  }
  if (!info.queries.empty()) {
    return usage_error("--trace: " + info.name +
                       " records some of its queries only; expected all of them");
  }
  const std::size_t kv_heads = std::max<std::size_t>(1, info.kv_heads);
  const std::string own = heads_words(setup.layers, setup.query_heads(), setup.kv_heads);
  const std::string other = heads_words(info.layers.size(), info.query_heads, kv_heads);
  if (own != other) {
    return usage_error("--trace: " + info.name + " has " + other + ", and the run has " + own);
  }
  if (fed == info.tokens) return {};
  return usage_error("--trace: " + info.name + " has " + std::to_string(info.tokens) +
                     " tokens, and the run feeds " + std::to_string(fed) +
                     "; expected the same tokens");
}

// What the queries of one unit of the run saw, token by token.
SeenUnit seen_unit(const History& history, std::size_t unit) {
  const properties::Place place = history.place_of(unit);
  const std::uint32_t group = history.what.setup.group;
  const bool single = history.contract.unit == Unit::head;
  SeenUnit seen{.layer = place.layer,
                .first_head = single ? place.head : place.head * group,
                .heads = single ? 1 : group,
                .seen = {}};
  for (const Event& event : history.events) {
    if (event.refused) continue;
    const properties::UnitFacts& facts = event.facts.units[unit];
    for (std::size_t query = 0; query < event.fed.size(); ++query) {
      std::vector<Position>& tokens = seen.seen.emplace_back();
      for (const std::size_t row : properties::seen_by(facts, query)) {
        const std::int32_t position = facts.returned[row].value.position;
        if (position >= 0 && position <= event.fed[query].position) {
          tokens.push_back(static_cast<Position>(position));
        }
      }
      // A row that is there twice is one token.
      tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    }
  }
  return seen;
}

// The means over all query heads.
Result<Retained> retained_of(const History& history, const Trace& trace, bool oracle) {
  const TraceInfo& info = trace.info();
  const TraceRotations rotations(info, info.tokens);
  Retained all{.optimum = 0};
  double heads = 0;
  for (std::size_t unit = 0; unit < history.units(); ++unit) {
    properties::stop_if_asked();
    const SeenUnit seen = seen_unit(history, unit);
    const auto own = retained_by(trace, rotations, seen, oracle && info.tokens <= most_exact);
    if (!own) return own.error();
    const auto weight = static_cast<double>(seen.heads);
    all.mass += weight * own->mass;
    all.visible += weight * own->visible;
    all.optimum += weight * own->optimum;
    all.per_step += weight * own->per_step;
    heads += weight;
  }
  for (double* const sum : {&all.mass, &all.visible, &all.optimum, &all.per_step}) *sum /= heads;
  return all;
}

void add_row(reports::Table& table,
             const std::string& name,
             const std::string& budget,
             const Retained& row,
             bool oracle) {
  std::vector<reports::Entry> entries = {{name, name},
                                         {budget, budget},
                                         reports::number_entry(row.mass, 4),
                                         reports::number_entry(row.visible, 1)};
  if (oracle) {
    entries.push_back(reports::number_entry(row.optimum, 4));
    entries.push_back(reports::number_entry(row.mass / row.optimum, 4));
  }
  table.rows.push_back(std::move(entries));
}

reports::Table empty_table(bool oracle) {
  reports::Table table;
  table.columns = {{.title = "cache", .name = "cache"},
                   {.title = "budget", .name = "budget", .number = true},
                   {.title = "retained mass", .name = "retained_mass", .number = true},
                   {.title = "visible", .name = "visible", .number = true}};
  if (oracle) {
    table.columns.push_back({.title = "optimum", .name = "optimum", .number = true});
    table.columns.push_back({.title = "of optimum", .name = "of_optimum", .number = true});
  }
  return table;
}

Result<std::vector<Cell>> cells_of(const BesideOptions& options, std::uint32_t budget) {
  std::vector<Cell> cells;
  for (const std::string& text : options.policies) {
    auto spec = parse_spec(text);
    if (!spec) return spec.error();
    if (budget > 0 && leaves_budget_open(text)) spec = parse_spec(text, {.budget = budget});
    if (!spec) return spec.error();
    cells.push_back({.spec = *std::move(spec), .seed = 1});
  }
  return cells;
}

Result<void> add_policies(const Trace& trace,
                          const std::vector<Cell>& cells,
                          bool oracle,
                          reports::Table& table) {
  if (cells.empty()) return {};
  ReplayOptions options;
  options.series_points = 1;
  options.oracle = oracle;
  options.oracle_tokens = most_exact;
  options.progress = [](double) { return !interrupted(); };
  const auto replayed = replay(trace, cells, options);
  if (!replayed) return replayed.error();
  for (const CellResult& cell : replayed->cells) {
    const Retained row{.mass = reports::means_of(cell).retained_mass,
                       .visible = reports::sizes_of(cell).visible_mean,
                       .optimum = oracle ? reports::oracle_of(cell).optimum : 0};
    add_row(table, reports::row_name(cell.cell.spec), cell.cell.spec.budget_text(), row, oracle);
  }
  return {};
}

}  // namespace

Result<Beside> beside_policies(std::string_view text,
                               const std::string& name,
                               const BesideOptions& options) {
  HistoryFile file(text, name, options.redeclared);
  const auto run = read_only_run(file, name, options.bytes);
  if (!run) return run.error();
  if (const auto right = check_calls(*run, name); !right) return right.error();
  const auto cells = cells_of(options, run->head.contract.budget);
  if (!cells) return cells.error();
  const auto trace = open_source(options.trace);
  if (!trace) return trace.error();
  const TraceInfo& info = trace->info();
  if (const auto fits = check_fits(*run, info); !fits) return fits.error();
  const auto own = retained_of(run->part.history, *trace, options.oracle);
  if (!own) return own.error();
  const std::size_t heads = info.query_heads * info.layers.size();
  Beside beside{.heading = "Beside the attention of " + info.name + " (" +
                           std::to_string(info.tokens) + " tokens, " + std::to_string(heads) +
                           (heads == 1 ? " query head" : " query heads") +
                           "; means over queries and heads; open loop)",
                .note = {},
                .table = empty_table(options.oracle)};
  const std::uint32_t budget = run->head.contract.budget;
  add_row(beside.table, "as recorded: " + run->head.contract.name,
          budget > 0 ? std::to_string(budget) : "-", *own, options.oracle);
  if (options.oracle && std::isnan(own->optimum)) {
    beside.note =
        info.tokens > most_exact
            ? "No optimum is computed for more than " + std::to_string(most_exact) + " tokens."
            : "The run has no optimum: its queries see tokens again that queries before "
              "them did not see.";
  }
  if (const auto done = add_policies(*trace, *cells, options.oracle, beside.table); !done) {
    return done.error();
  }
  return beside;
}

}  // namespace kv::cli
