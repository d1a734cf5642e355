// Per-token logs of other programs: the loss of a model that cannot be run here on each token of a
// text. They are drawn like evaluations.
//
// A log is a CSV file whose header names the columns input_length (tokens that the model had read,
// so 1 for the first target) and nll (-ln of the target's probability); other columns are ignored.
// The benchmark of github.com/tomaarsen/attention_sinks writes such files. A folder holds the logs
// of one model, each with its file's name as label. A label that is a policy's name is drawn like
// that policy, and so are that benchmark's names: transformers (dense), windowed (window) and
// attention_sinks (streaming).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/predictions.h"

namespace kv::reports {

struct LossLog {
  std::string label;
  std::vector<LossPoint> series{};  // of one target each, by position; never empty

  // One past the number of the last target.
  [[nodiscard]] std::size_t length() const { return series.back().first + 1; }
};

// The logs of one model.
struct LossLogs {
  std::string name;             // the folder's
  std::vector<LossLog> logs{};  // by label; never empty
};

// Errors name the line, what was found and what was expected: a missing column, a field that is not
// a number, a count of tokens that does not grow, a loss that is negative or above 700, no targets.
Result<std::vector<LossPoint>> parse_loss_log(std::string_view csv);

// Reads every *.csv of the folder. Errors name the folder or the file; a folder without such a file
// is an error.
Result<LossLogs> read_loss_logs(const std::string& folder);

// A row per log: perplexity over all targets, and over targets 0-1024, 1024-2048, 2048-4096 and so
// on.
Table loss_log_table(std::span<const LossLogs> models);

}  // namespace kv::reports
