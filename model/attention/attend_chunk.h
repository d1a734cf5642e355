// All queries of a chunk over stored rows of one kv-head at once. Keys and values are read once for
// many tokens, which saves most of the time of a prompt.
//
// This requires that every query of the chunk sees everything stored up to itself, and that nothing
// is quantised between the queries. Then the visible sets are nested: a row has the same rank for
// every query that sees it, and each query sees the ranks below a limit of its own. The results are
// the same bits as those of QueryAttention, query by query.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/model/attention/attend_query.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/query_rotation.h"
#include "kvcheck/model/attention/vector_reader.h"

namespace kv::model {

class ChunkAttention {
 public:
  // Queries are [query heads, head_dim] a token, `query_width` numbers. `rope` outlives it.
  ChunkAttention(RopeCache& rope,
                 std::size_t head_dim,
                 std::size_t query_width,
                 RotationRules rules);

  // Writes the outputs of the rows' heads for all tokens of the chunk: out [tokens, query_width].
  // `rows` is what the chunk's last query sees, at position `last`. Requires keys that are not
  // rotated at_read.
  void attend(const AttendedRows& rows, const LayerVectors& vectors, Position last, float* out);

 private:
  void attend_block(const AttendedRows& rows,
                    const KeysAndValues& stored,
                    const QueryBlock& block,
                    float* out);

  std::size_t dim_;
  std::size_t width_;
  QueryRotation rotation_;
  VectorReader reader_;
  std::vector<std::size_t> limits_;  // [tokens, heads]: the ranks that each query sees
  std::vector<float> outs_;          // [tokens, heads, head_dim]
  std::vector<float> state_;         // scratch of the kernel
};

}  // namespace kv::model
