// What a recording takes from a run of a model, at its place among the numbers of the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/run/spool.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/traces/files/writer.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {

// Files are ordered by layer and head, and a model runs token by token, so numbers wait in a spool.
class Recorder final : public AttentionObserver {
 public:
  // Of the trace that `info` describes, with these kv-heads of the model. Its numbers begin with
  // number `base` of the spool, which outlives the recorder.
  Recorder(const ModelConfig& config,
           std::vector<std::size_t> kv_heads,
           TraceInfo info,
           Spool& spool,
           std::uint64_t base);

  void on_vectors(Position first, const LayerVectors& vectors) override;

  [[nodiscard]] bool wants_rows(std::size_t layer) const override;

  void on_row(std::size_t layer,
              std::size_t head,
              Position query,
              const Visible& visible,
              std::span<const float> mass) override;

  // The first error.
  [[nodiscard]] const Result<void>& state() const { return state_; }

  // Writes all numbers, in blocks, because a trace may be larger than memory. An error if they are
  // not those that were put into the spool.
  Result<void> copy_to(TraceWriter& writer) const;

 private:
  // One head of [tokens, heads, head_dim], and the tokens of a chunk.
  struct Head {
    const float* rows;
    std::size_t heads;
    std::size_t head;
  };

  struct Chunk {
    Position first;
    std::size_t tokens;
  };

  [[nodiscard]] std::optional<std::size_t> row_of(Position query) const;
  std::span<const float> by_position(Position query,
                                     const Visible& visible,
                                     std::span<const float> mass);
  // Puts scratch_. An error at once if the trace's numbers cannot hold one of it, rather than when
  // all is computed; what is not finite has a reason that others find.
  void put(std::uint64_t at);
  void put_head(const Head& head, std::size_t tokens, std::uint64_t at);
  void put_queries(const Head& head, const Chunk& chunk, std::uint64_t at);
  void keep(const Result<void>& done);

  const ModelConfig& config_;
  std::vector<std::size_t> kv_heads_;
  TraceInfo info_;
  Spool& spool_;
  std::uint64_t base_;
  Result<void> state_;
  std::vector<float> scratch_;
  std::string of_;  // what scratch_ is, for messages
};

}  // namespace kv::model
