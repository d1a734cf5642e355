// The explorer: one HTML page that steps through a stream and shows which tokens are resident.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/traces/trace.h"

namespace kv::reports {

// The words of a trace. A results file does not hold them.
struct ExplorerText {
  std::uint64_t checksum = 0;  // of the trace
  Transcript transcript;
};

// The page for the traces of a run. It needs no other file and no network. A trace whose checksum
// is in `texts` is shown with its words, and any other by the numbers of its positions. The same
// arguments give the same bytes. Errors: no cell of the run has its residency recorded; no memory.
// Cost: 2 bytes before compression per token, unit and cell (4 from 65,536 tokens on).
Result<std::string> explorer_page(const StoredRun& run, std::span<const ExplorerText> texts);

// What the page holds as data, before compression. See the README of the room.
std::string explorer_data(const StoredRun& run, std::span<const ExplorerText> texts);

}  // namespace kv::reports
