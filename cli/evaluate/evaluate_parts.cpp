#include "kvcheck/cli/evaluate/evaluate_parts.h"

#include <span>

#include "kvcheck/base/packed_bytes.h"

namespace kv::cli {
namespace {

// No bytes read as zeros that are not whole, like damaged ones.
PackedReader reader_of(const PartStore& parts, const std::string& key) {
  return PackedReader(parts.find(key).value_or(std::span<const std::byte>()));
}

}  // namespace

std::vector<std::byte> bytes_of(const ClosedLoopCell& result) {
  PackedWriter writer;
  writer.number(result.kv_bytes);
  writer.number(result.targets_after);
  writer.real(result.nats_after);
  writer.number(result.series.size());
  for (const LossPoint& point : result.series) {
    writer.number(point.first);
    writer.number(point.targets);
    writer.real(point.nats);
  }
  writer.number(result.recall.size());
  for (const RecallBin& bin : result.recall) {
    for (const std::size_t number : {bin.first, bin.last, bin.asked, bin.right}) {
      writer.number(number);
    }
  }
  return writer.take();
}

std::optional<ClosedLoopCell> kept_cell(const PartStore& parts,
                                        const std::string& key,
                                        const Cell& cell) {
  PackedReader reader = reader_of(parts, key);
  ClosedLoopCell result;
  result.cell = cell;
  result.kv_bytes = reader.number();
  result.targets_after = reader.number();
  result.nats_after = reader.real();
  result.series.resize(reader.count());
  for (LossPoint& point : result.series) {
    point.first = reader.number();
    point.targets = reader.number();
    point.nats = reader.real();
  }
  result.recall.resize(reader.count());
  for (RecallBin& bin : result.recall) {
    for (std::size_t* const number : {&bin.first, &bin.last, &bin.asked, &bin.right}) {
      *number = reader.number();
    }
  }
  if (!reader.whole()) return std::nullopt;
  return result;
}

std::vector<std::byte> bytes_of(const std::vector<OpenLoop>& cells) {
  PackedWriter writer;
  for (const OpenLoop& cell : cells) {
    writer.real(cell.retained_mass);
    writer.number(cell.queries_after);
  }
  return writer.take();
}

std::optional<std::vector<OpenLoop>> kept_replay(const PartStore& parts,
                                                 const std::string& key,
                                                 std::size_t cells) {
  PackedReader reader = reader_of(parts, key);
  std::vector<OpenLoop> found(cells);
  for (OpenLoop& cell : found) {
    cell.retained_mass = reader.real();
    cell.queries_after = reader.number();
  }
  if (!reader.whole()) return std::nullopt;
  return found;
}

std::vector<std::byte> bytes_of(const TimedCell& row) {
  PackedWriter writer;
  for (const double time : {row.first_token_s, row.token_s, row.mean_token_s, row.attention_s}) {
    writer.real(time);
  }
  writer.number(row.kv_bytes);
  writer.number(row.peak_bytes);
  for (const std::string& text : {row.kernels, row.processor}) {
    writer.numbers(std::vector<std::uint8_t>(text.begin(), text.end()));
  }
  return writer.take();
}

std::optional<TimedCell> kept_row(const PartStore& parts,
                                  const std::string& key,
                                  const Cell& cell,
                                  std::size_t length) {
  PackedReader reader = reader_of(parts, key);
  TimedCell row{.cell = cell, .length = length};
  for (double* const time :
       {&row.first_token_s, &row.token_s, &row.mean_token_s, &row.attention_s}) {
    *time = reader.real();
  }
  row.kv_bytes = reader.number();
  row.peak_bytes = reader.number();
  for (std::string* const text : {&row.kernels, &row.processor}) {
    std::vector<std::uint8_t> letters;
    reader.numbers(letters);
    text->assign(letters.begin(), letters.end());
  }
  if (!reader.whole()) return std::nullopt;
  return row;
}

}  // namespace kv::cli
