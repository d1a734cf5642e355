// The explorer: one HTML page that steps through a stream and shows which tokens are resident.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/sim/steps/unit_steps.h"
#include "kvcheck/traces/trace.h"

namespace kv::reports {

// The steps of one unit of a cell, in the precision of the page.
struct ExplorerSteps {
  std::size_t cell = 0;  // index in ReplayResult::cells
  std::size_t layer = 0;
  std::size_t head = 0;
  std::size_t window = 0;  // how many newest positions the layer lets a query see; 0: all
  std::vector<Slot> slots;
  std::vector<float> retained;
  // UnitSteps::mass: b stands for 2^(-b/16), which is at most 2.2 % off; 255 for less than that.
  std::vector<std::uint8_t> mass;
  std::vector<Decision> decisions;
};

// `window` is that of the layer's rules.
ExplorerSteps explorer_steps(std::size_t cell, const UnitSteps& steps, std::size_t window = 0);

// What a results file does not hold of a trace: its words, and the steps of units.
struct ExplorerTrace {
  std::uint64_t checksum = 0;  // of the trace
  Transcript transcript;
  std::vector<ExplorerSteps> steps;
};

// The page for the traces of a run. It needs no other file and no network. A trace whose checksum
// is in `traces` is shown with its words, if there are any, and with the steps that are there; any
// other by the numbers of its positions. The same arguments give the same bytes. Errors: no cell of
// the run has its residency recorded; no memory. Cost: 2 bytes before compression per token, unit
// and cell (4 from 65,536 tokens on), and for a unit with steps 8 bytes per token, 1 per number of
// its attention and about 200 per decision.
Result<std::string> explorer_page(const StoredRun& run, std::span<const ExplorerTrace> traces);

// Some arrays, or a JSON text, that the page inflates when a view needs them.
struct ExplorerPart {
  std::string bytes;
  bool opened = false;  // whether the first view needs them
};

// What the page holds as data, before compression. See the README of the room.
struct ExplorerData {
  std::string index;  // JSON
  std::vector<ExplorerPart> parts;
};

ExplorerData explorer_data(const StoredRun& run, std::span<const ExplorerTrace> traces);

// Whether some cell of the trace has its residency recorded.
bool has_residency(const ReplayResult& trace);

}  // namespace kv::reports
