// What results of one text differ by: the sizes of windows, layers and lengths, and the settings of
// the model.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/measures.h"
#include "kvcheck/reports/store/results.h"

namespace kv::reports {

// The sizes of windows of the evaluations, increasing; 0 stands for texts that are not cut. A text
// in windows of two sizes is not two texts.
std::vector<std::size_t> windows_of(std::span<const StoredRun> runs);

// The layers whose heads the replays hold, increasing, by the model's numbers. Empty if a replay
// holds the means of its cells alone.
std::vector<std::size_t> layers_of(std::span<const StoredRun> runs);

// The lengths of prompts in the timings, increasing. A run at two lengths is not two runs.
std::vector<std::size_t> lengths_of(std::span<const StoredRun> runs);

// What makes two measurements of one text two texts, although they are not: the model, and how
// weights, keys and values were stored, as "model/data with f32", with the checksum of the weights
// if others lay at the same path. Of replays those models that the traces name.
std::set<std::string> settings_in(std::span<const StoredRun> runs, MeasuredIn in);

// The groups of the items of tasks in the runs, sorted; "" for items without one.
std::vector<std::string> groups_of_items(std::span<const StoredRun> runs);

// Whether every item of tasks in the runs has a checksum of its own.
bool items_have_checksums(std::span<const StoredRun> runs);

// The first text of which the evaluations in windows of this size, or all, hold several lengths, as
// "book.txt with 129 and with 512 tokens": a text and its beginning are not two texts. Empty if
// there is none.
std::string prefixes_in(std::span<const StoredRun> runs, std::optional<std::size_t> window);

}  // namespace kv::reports
