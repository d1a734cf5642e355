// New trace files from old ones: another number type, or a part of a trace.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// What of a trace to keep. Tokens are always a prefix: what a model computes at a position depends
// on all tokens before it, so only the first ones are also a recording of their own. For them it is
// exact, because attention is causal.
struct Selection {
  std::optional<std::vector<std::size_t>> layers;  // the model's numbers; empty means all
  std::optional<std::vector<std::size_t>> heads;   // query heads; whole groups of a kv-head
  std::optional<std::size_t> tokens;               // how many of the first
};

// Texts for people that replace the trace's own, as where an attention dump has none.
struct TraceTexts {
  std::optional<std::string> model;
  std::optional<std::string> source;
  std::optional<std::string> licence;
};

// What rewrite() would write. Errors: a layer, head or count that is not there, lists that do not
// increase, a group of query heads that is kept only in part.
Result<TraceInfo> select(const TraceInfo& info, const Selection& selection);

// Writes the selected part of `trace` as a trace file with `number`s, in the current form of the
// format. Numbers are rounded to nearest; one that `number` cannot hold is an error. The source may
// be the file that is replaced. Memory: one row.
Result<void> rewrite(const Trace& trace,
                     const Selection& selection,
                     Number number,
                     const std::string& path,
                     const TraceTexts& texts = {});

}  // namespace kv
