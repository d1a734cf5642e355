// What `eval` and `speed` keep of an unfinished run, as bytes. Every bit of a result is kept. What
// cannot be read back is nothing, and then it is computed again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/kept_parts.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::cli {

// A cell on a text, without its retained mass.
std::vector<std::byte> bytes_of(const ClosedLoopCell& result);
std::optional<ClosedLoopCell> kept_cell(const PartStore& parts,
                                        const std::string& key,
                                        const Cell& cell);

// What a cell does in the open loop of one stream.
struct OpenLoop {
  double retained_mass = 0;       // over all queries
  std::size_t queries_after = 0;  // from the first loss on
};

// The cells of a plan in the open loop of one stream.
std::vector<std::byte> bytes_of(const std::vector<OpenLoop>& cells);
std::optional<std::vector<OpenLoop>> kept_replay(const PartStore& parts,
                                                 const std::string& key,
                                                 std::size_t cells);

// A cell after a prompt of some length.
std::vector<std::byte> bytes_of(const TimedCell& row);
std::optional<TimedCell> kept_row(const PartStore& parts,
                                  const std::string& key,
                                  const Cell& cell,
                                  std::size_t length);

}  // namespace kv::cli
