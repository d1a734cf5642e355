// A dense pass over a text, layer by layer: every token passes a layer before any passes the next.
//
// Nothing that a layer holds is needed by the others, so memory is that of the keys and values of
// one layer, whatever the model's depth, and what layers make of the tokens is on disk. The bits
// are those of a decoder that reads token by token, because no number depends on the order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/run/pass_file.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

struct LayeredPass {
  std::span<const TokenId> tokens;
  std::size_t chunk = 64;                 // tokens at a time
  std::size_t layers = 0;                 // how many to run, from the first on
  bool losses = true;                     // whether all layers are run, and then the losses
  AttentionObserver* observer = nullptr;  // not null
  std::shared_ptr<Team> team{};           // may be null
};

// Runs what the file says is left. -ln p per token, of the first, which nothing predicts, 0; empty
// without losses. Errors: the decoder's, the disk's, and being stopped, after a note in the file.
// `observed` is asked after every chunk for the observer's error.
Result<std::vector<float>> run_layers(const LanguageModel& model,
                                      const LayeredPass& pass,
                                      PassFile& file,
                                      const std::function<Result<void>()>& observed,
                                      const Progress& report);

}  // namespace kv::model
