#include "kvcheck/cli/evaluate/speed_rows.h"

#include <utility>

#include "kvcheck/cli/evaluate/evaluate_parts.h"
#include "kvcheck/cli/evaluate/speed_run.h"
#include "kvcheck/cli/options/interrupt.h"

namespace kv::cli {
namespace {

// Indices of one row.
struct RowPlace {
  std::size_t run = 0;
  std::size_t cell = 0;
  std::size_t length = 0;
};

std::vector<RowPlace> order_of(const SpeedRows& rows) {
  std::vector<RowPlace> order;
  const std::size_t cells = rows.cells.size();
  for (std::size_t run = 0; run < rows.runs; ++run) {
    for (std::size_t length = 0; length < rows.lengths.size(); ++length) {
      for (std::size_t i = 0; i < cells; ++i) {
        order.push_back({.run = run, .cell = run % 2 == 0 ? i : cells - 1 - i, .length = length});
      }
    }
  }
  return order;
}

Error labelled(const Error& error, const Cell& cell) {
  return {error.kind, cell.spec.label() + ": " + error.message};
}

}  // namespace

Result<std::vector<TimedCell>> time_rows(const model::LanguageModel& model,
                                         const model::DecoderOptions& options,
                                         const SpeedRows& rows,
                                         PartStore* kept,
                                         const SpeedProgress& progress) {
  std::vector<TimedCell> timed(rows.count());
  std::size_t done = 0;
  bool cold = true;
  for (const RowPlace& place : order_of(rows)) {
    const Cell& cell = rows.cells[place.cell];
    const std::size_t length = rows.lengths[place.length];
    const std::size_t index =
        (place.run * rows.cells.size() + place.cell) * rows.lengths.size() + place.length;
    const std::string key = "row " + std::to_string(index);
    progress(done++, cell.spec.label());
    if (auto known = kept == nullptr ? std::nullopt : kept_row(*kept, key, cell, length)) {
      timed[index] = *std::move(known);
    } else {
      if (const auto warm =
              cold ? warm_up(model, cell, options, length, rows.tokens) : Result<void>();
          !warm) {
        return labelled(warm.error(), cell);
      }
      cold = false;
      Result<TimedCell> row = time_decoder(model, cell, options, length, rows.tokens);
      if (interrupted()) {
        return io_error("interrupted after " + std::to_string(done - 1) + " of " +
                        std::to_string(rows.count()) + " rows");
      }
      if (!row) return labelled(row.error(), cell);
      if (kept != nullptr) kept->keep({{key, bytes_of(*row)}});
      timed[index] = *std::move(row);
    }
    timed[index].repetition = place.run + 1;
  }
  return timed;
}

void give_usual_chunks(std::vector<Cell>& cells) {
  constexpr std::uint32_t usual_chunk = 64;
  for (Cell& cell : cells) {
    if (cell.spec.chunk != 1) continue;
    Spec chunked = cell.spec;
    chunked.chunk = usual_chunk;
    // A few specs allow no chunk but 1.
    if (parse_spec(chunked.canonical())) cell.spec = chunked;
  }
}

}  // namespace kv::cli
