#include "kvcheck/reports/sweeps/sweep_results.h"

#include <array>
#include <utility>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"

namespace kv::reports {
namespace {

constexpr std::array<std::string_view, 4> kind_names = {"replay", "eval", "tasks", "speed"};

constexpr std::array<SweepTables, 4> kind_tables = {{
    {.sources = "traces", .cells = "cells", .source = "trace", .id = "cells.id"},
    {.sources = "evaluations",
     .cells = "eval_cells",
     .source = "evaluation",
     .id = "eval_cells.id"},
    {.sources = "tasks", .cells = "task_cells", .source = "task", .id = "task_cells.id"},
    {.sources = "timings",
     .cells = "timed_cells",
     .source = "timing",
     .id = "(timed_cells.timing * 4294967296 + timed_cells.ordinal)",
     .one_row = true},
}};

constexpr std::int64_t most_timed_cells = std::int64_t{1} << 32U;

void write_text(const std::string& text, PackedWriter& writer) {
  writer.number(text.size());
  for (const char c : text) writer.number(static_cast<unsigned char>(c));
}

// What identifies the trace itself is in the identity of the sweep.
void write_source(const ReplayResult& result, PackedWriter& writer) {
  write_text(result.trace.name, writer);
  writer.number(result.top_k);
  writer.number(result.series_width);
  for (const DenseFacts& head : result.dense) {
    writer.number(head.layer);
    writer.number(head.head);
    for (const double value : {head.first_mass, head.sinks_mass, head.recent_mass, head.entropy}) {
      writer.bits(value);
    }
  }
  for (const float mass : result.map.mass) writer.bits(mass);
}

void write_source(const ClosedLoopResult& result, PackedWriter& writer) {
  for (const std::string& text : {result.model, result.architecture, result.text, result.storage}) {
    write_text(text, writer);
  }
  for (const std::uint64_t number :
       {std::uint64_t{result.weight_bytes}, std::uint64_t{result.context}, result.checksum,
        std::uint64_t{result.window}, std::uint64_t{result.streams}, std::uint64_t{result.tokens},
        std::uint64_t{result.longest}, std::uint64_t{result.marks.prompt},
        std::uint64_t{result.marks.question}, std::uint64_t{result.segment},
        std::uint64_t{result.series_width}, result.inputs.weights, result.inputs.cell}) {
    writer.number(number);
  }
}

void write_source(const TaskResult& result, PackedWriter& writer) {
  for (const std::string& text : {result.model, result.architecture, result.file, result.storage}) {
    write_text(text, writer);
  }
  writer.number(result.weight_bytes);
  writer.number(result.context);
  for (const std::uint64_t number : {result.checksum, result.inputs.weights, result.inputs.cell}) {
    writer.number(number);
  }
  for (const AskedItem& item : result.items) {
    write_text(item.id, writer);
    write_text(item.group, writer);
    for (const std::uint64_t number :
         {std::uint64_t{item.context}, std::uint64_t{item.question}, std::uint64_t{item.answer},
          std::uint64_t{item.choices}, item.checksum}) {
      writer.number(number);
    }
  }
}

void write_source(const TimingResult& result, PackedWriter& writer) {
  for (const std::string& text : {result.model, result.weights, result.storage}) {
    write_text(text, writer);
  }
  for (const std::size_t number : {result.weight_bytes, result.tokens, result.threads}) {
    writer.number(number);
  }
}

void write_results(const CellResult& cell, PackedWriter& writer) {
  for (const std::byte byte : bytes_of_results(cell)) {
    writer.number(std::to_integer<std::uint8_t>(byte));
  }
}

void write_results(const ClosedLoopCell& cell, PackedWriter& writer) {
  writer.number(cell.kv_bytes);
  writer.bits(cell.retained_mass);
  writer.number(cell.targets_after);
  writer.bits(cell.nats_after);
  writer.number(cell.queries_after);
  writer.number(cell.series.size());
  for (const LossPoint& point : cell.series) {
    writer.number(point.first);
    writer.number(point.targets);
    writer.bits(point.nats);
  }
  for (const RecallBin& bin : cell.recall) {
    for (const auto number : {bin.first, bin.last, bin.asked, bin.right}) writer.number(number);
  }
}

void write_results(const TaskCell& cell, PackedWriter& writer) {
  writer.number(cell.kv_bytes);
  for (const TaskAnswer& answer : cell.answers) {
    write_text(answer.text, writer);
    writer.number(answer.exact ? 1 : 0);
    writer.number(answer.contains ? 1 : 0);
    writer.bits(answer.f1);
    writer.bits(answer.loss);
    writer.number(answer.rank);
  }
}

void write_results(const TimedCell& cell, PackedWriter& writer) {
  for (const std::size_t number : {cell.length, cell.repetition, cell.kv_bytes, cell.peak_bytes}) {
    writer.number(number);
  }
  for (const double value :
       {cell.first_token_s, cell.token_s, cell.mean_token_s, cell.attention_s}) {
    writer.bits(value);
  }
  write_text(cell.kernels, writer);
  write_text(cell.processor, writer);
}

std::string words_of(const ReplayResult& result) {
  return "the trace '" + result.trace.name + "'";
}

std::string words_of(const ClosedLoopResult& result) {
  const bool cut = result.window > 0;
  return "the text '" + result.text + "'" +
         (cut ? " in windows of " + std::to_string(result.window) : "");
}

std::string words_of(const TaskResult& result) {
  return "the task file '" + result.file + "'";
}

std::string words_of(const TimingResult& result) {
  return "the model '" + result.model + "'";
}

}  // namespace

std::string_view name_of(SweepKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

SweepTables tables_of(SweepKind kind) {
  return kind_tables[static_cast<std::size_t>(kind)];
}

std::int64_t timed_cell_id(std::int64_t timing, std::int64_t ordinal) {
  return timing * most_timed_cells + ordinal;
}

std::size_t cells_in(const SweepResult& result) {
  return std::visit([](const auto& source) { return source.cells.size(); }, result);
}

SweepResult source_alone(const SweepResult& result) {
  return std::visit(
      [](auto source) -> SweepResult {
        source.cells.clear();
        return source;
      },
      result);
}

void copy_cell(const SweepResult& from, std::size_t cell, SweepResult& to) {
  std::visit(
      [&]<typename Source>(const Source& source) {
        std::get<Source>(to).cells.push_back(source.cells[cell]);
      },
      from);
}

void drop_last_cell(SweepResult& result) {
  std::visit([](auto& source) { source.cells.pop_back(); }, result);
}

std::string cell_words(const SweepResult& result, std::size_t cell) {
  return std::visit(
      [&](const auto& source) {
        const Cell& of = source.cells[cell].cell;
        return "the cell '" + of.spec.canonical() + "' with seed " + std::to_string(of.seed) +
               " on " + words_of(source);
      },
      result);
}

std::string source_words(const SweepResult& result) {
  return std::visit([](const auto& source) { return words_of(source); }, result);
}

Result<std::int64_t> insert_source(Database& database,
                                   const RunPlace& place,
                                   const SweepResult& result) {
  if (const auto* trace = std::get_if<ReplayResult>(&result)) {
    return insert_trace_alone(database, place, *trace);
  }
  if (const auto* text = std::get_if<ClosedLoopResult>(&result)) {
    return insert_evaluation_alone(database, place, *text);
  }
  if (const auto* timing = std::get_if<TimingResult>(&result)) {
    return insert_timing_alone(database, place, *timing);
  }
  return insert_task_alone(database, place, std::get<TaskResult>(result));
}

Result<void> insert_cells(Database& database,
                          std::int64_t source,
                          const SweepResult& result,
                          std::span<const CellPlace> places) {
  if (const auto* trace = std::get_if<ReplayResult>(&result)) {
    return insert_cells(database, source, *trace, places);
  }
  if (const auto* text = std::get_if<ClosedLoopResult>(&result)) {
    return insert_evaluation_cells(database, source, text->cells, places);
  }
  if (const auto* timing = std::get_if<TimingResult>(&result)) {
    return insert_timed_cells(database, source, timing->cells, places);
  }
  return insert_task_cells(database, source, std::get<TaskResult>(result).cells, places);
}

Result<SweepResult> select_source(Database& database, SweepKind kind, std::int64_t id) {
  const auto as_any = [](auto selected) -> Result<SweepResult> {
    if (!selected) return selected.error();
    return SweepResult(*std::move(selected));
  };
  switch (kind) {
    case SweepKind::replay:
      return as_any(select_trace_alone(database, id));
    case SweepKind::eval:
      return as_any(select_evaluation_alone(database, id));
    case SweepKind::tasks:
      return as_any(select_task_alone(database, id));
    case SweepKind::speed:
      return as_any(select_timing_alone(database, id));
  }
  return SweepResult();
}

Result<void> select_cell_into(Database& database, std::int64_t id, SweepResult& result) {
  const auto append = [](auto selected, auto& cells) -> Result<void> {
    if (!selected) return selected.error();
    cells.push_back(*std::move(selected));
    return {};
  };
  if (auto* trace = std::get_if<ReplayResult>(&result)) {
    return append(select_cell(database, id, trace->trace), trace->cells);
  }
  if (auto* text = std::get_if<ClosedLoopResult>(&result)) {
    return append(select_evaluation_cell(database, id, *text), text->cells);
  }
  if (auto* timing = std::get_if<TimingResult>(&result)) {
    return append(select_timed_cell(database, id / most_timed_cells, id % most_timed_cells),
                  timing->cells);
  }
  auto& task = std::get<TaskResult>(result);
  return append(select_task_cell(database, id, task), task.cells);
}

std::vector<std::byte> bytes_of_source(const SweepResult& result) {
  PackedWriter writer;
  std::visit([&](const auto& source) { write_source(source, writer); }, result);
  return writer.take();
}

std::vector<std::byte> bytes_of_cell(const SweepResult& result, std::size_t cell) {
  PackedWriter writer;
  std::visit(
      [&](const auto& source) {
        const Cell& of = source.cells[cell].cell;
        write_text(of.spec.canonical(), writer);
        writer.number(of.seed);
        write_results(source.cells[cell], writer);
      },
      result);
  return writer.take();
}

}  // namespace kv::reports
