// The rows of `kvcheck speed`: each cell after prompts of several lengths, several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::cli {

struct SpeedRows {
  std::vector<Cell> cells;
  std::vector<std::uint64_t> lengths;  // of prompts, in tokens
  std::size_t tokens = 1;              // timed after each prompt
  std::size_t runs = 1;                // over all cells and lengths

  [[nodiscard]] std::size_t count() const { return cells.size() * lengths.size() * runs; }
};

// Receives how many rows are done and what comes next.
using SpeedProgress = std::function<void(std::size_t rows, const std::string& label)>;

// Times the rows, and returns them by repetition, then cell, then length. They are timed in another
// order: within a repetition all cells at one length, one right after the other, so that the load
// of the machine is as similar as it can be for cells that are compared; in every second repetition
// from the last cell to the first, so that a load that rises or falls favours none. Before the
// first one, warm_up() runs its cell. `kept`, if it is not null, receives each row and is asked for
// it first. Errors: those of time_decoder(), with the cell's label; an interruption.
Result<std::vector<TimedCell>> time_rows(const model::LanguageModel& model,
                                         const model::DecoderOptions& options,
                                         const SpeedRows& rows,
                                         PartStore* kept,
                                         const SpeedProgress& progress);

// Specs that name no chunk read prompts in chunks of 64, if they may: a prompt that is read token
// by token takes 6 to 12 times as long, and other programs read it in chunks too.
void give_usual_chunks(std::vector<Cell>& cells);

}  // namespace kv::cli
