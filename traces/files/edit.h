// New trace files from old ones: another number type, or a part of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The part of a trace to keep. Tokens are always a prefix: what a model computes at a position
// depends on all tokens before it, so only a prefix is itself a recording. It is an exact one,
// because attention is causal.
struct Selection {
  std::optional<std::vector<std::size_t>> layers;  // the model's numbers; empty means all
  std::optional<std::vector<std::size_t>> heads;   // query heads; whole groups of a kv-head
  std::optional<std::size_t> tokens;               // how many of the first
  // Which queries of these tokens, drawn with the seed; empty: those that the trace records.
  std::optional<QueryDesign> queries{};
  std::uint64_t query_seed = 1;
};

// Descriptions that replace those of the trace, for example because an attention dump has none.
struct TraceTexts {
  std::optional<std::string> model;
  std::optional<std::string> source;
  std::optional<std::string> licence;
  std::optional<Transcript> transcript{};  // of all tokens of the trace
};

// The info of the trace that rewrite() would write. Errors: a layer, head or number of tokens that
// the trace does not have, a list that does not increase, queries of a trace that
// records some only, or of tokens that have none, a group of query heads of which only a
// part is kept.
Result<TraceInfo> select(const TraceInfo& info, const Selection& selection);

// Writes the selected part of `trace` as a trace file with `number`s, in the current form of the
// format. Numbers are rounded to nearest; one that `number` cannot hold is an error. A file that
// changed meanwhile is an error, too. `path` may be the file that `trace` was read from. Memory:
// one row.
Result<void> rewrite(const Trace& trace,
                     const Selection& selection,
                     Number number,
                     const std::string& path,
                     const TraceTexts& texts = {});

}  // namespace kv
