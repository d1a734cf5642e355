// Attention over selected pages, for visibility=top-pages: each query head ranks the pages of its
// kv-head by the bounds of their keys (sim/cache/page_selection.h) and attends to the best.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/model/attention/attend_query.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/model_unit.h"

namespace kv::model {

class PageAttention {
 public:
  // `rope` and `attention` outlive it.
  PageAttention(RopeCache& rope,
                QueryAttention& attention,
                std::size_t head_dim,
                RotationRules rules);

  // Adds the key that was just stored to the bounds of its page; `place` is its rotary position.
  // Requires that the group selects pages.
  void add(KvHeadGroup& group, Slot slot, Position place);

  // One token's query over the pages that each head of the group selects. Cost: a head,
  // O(pages * head_dim + attended * head_dim).
  void attend(const UnitCache& cache,
              KvHeadGroup& group,
              const TokenQuery& query,
              AttentionObserver* observer);

 private:
  RopeCache& rope_;
  QueryAttention& attention_;
  std::size_t dim_;
  RotationRules rules_;
  std::vector<float> stored_;   // [head_dim]
  std::vector<float> rotated_;  // [head_dim]: a key or a query
  std::vector<Slot> slots_;
};

}  // namespace kv::model
