// Recording: a run of a model, dense or under a policy, becomes a trace file.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {

struct RecordOptions {
  TraceKind kind = TraceKind::qkv;
  Number number = Number::f16;        // of the trace
  std::vector<std::size_t> layers{};  // increasing; empty: all
  // Increasing; empty: all. Each comes with the query heads that read it.
  std::vector<std::size_t> kv_heads{};
  std::optional<Cell> cell{};  // empty: nothing is evicted, 64 tokens per forward pass
  // Which queries to record; empty: all. Drawn with `query_seed`.
  std::optional<QueryDesign> queries{};
  std::uint64_t query_seed = 1;
  // Whether the trace gets the model's losses. Without them, and with nothing evicted, layers above
  // the last recorded one are not run.
  bool losses = true;
  // Names the run: an unfinished one of the same identity is continued, and a file beside the
  // trace, PATH.unfinished, keeps what is done while this one runs. Only of q/k/v with nothing
  // evicted. Empty: nothing is kept.
  std::string identity{};
  // By token number; for policies that look at the words that tokens are. May be null else.
  std::shared_ptr<const std::vector<TokenClass>> token_classes{};
  std::vector<TokenId> repeat_request{};
  std::shared_ptr<Team> team{};  // as DecoderOptions::team
  Marks marks{};                 // where the text's prompt and question end
  std::string model{};           // texts for people
  std::string source{};
  std::string licence{};
};

// Runs the model over the tokens and writes `path`, which appears whole or not at all. Under a
// policy, rows of attention are 0 where a token was not seen any more; queries, keys and values are
// those of a model that saw only what was left, but a replay of them computes rows over all tokens.
// Queries contain the scale of attention, as far as it is not 1 / sqrt(head_dim). Memory does not
// grow with the trace: its numbers wait on disk, once more as f32, until they are all there. If
// nothing is evicted and q/k/v are recorded, the model runs layer by layer
// (model/run/layered_pass.h), and memory is that of the keys and values of one layer. Errors:
// layers or heads that the model does not have; queries that the text does not have; of q/k/v,
// vectors=re-evaluated, which gives a token several; the decoder's, the disk's, a file of the model
// that changed, and being stopped. Requires at least one token.
Result<void> record(const LanguageModel& model,
                    const Tokenizer& tokenizer,
                    std::span<const TokenId> tokens,
                    const RecordOptions& options,
                    const std::string& path,
                    const Progress& report = {});

}  // namespace kv::model
