#include "kvcheck/model/attention/query_rotation.h"

#include "kvcheck/base/check.h"

namespace kv::model {

QueryRotation::QueryRotation(RopeCache& rope, std::size_t head_dim, RotationRules rules)
    : rope_(rope), dim_(head_dim), rules_(rules) {}

void QueryRotation::add_run(std::size_t count, Position rotate) {
  if (count == 0) return;
  const std::size_t begin = runs_.empty() ? 0 : runs_.back().end;
  // Runs that happen to share a rotation are one: the middle may begin right behind the sinks.
  if (!rotations_.empty() && rotations_.back() == rotate) {
    runs_.back().end += count;
    return;
  }
  runs_.push_back({begin + count, nullptr});
  rotations_.push_back(rotate);
}

void QueryRotation::plan(const Visible& visible, Position query, std::size_t hidden) {
  KV_CHECK(rules_.keys != KeyRotation::at_read);
  const std::size_t n = visible.size();
  runs_.clear();
  rotations_.clear();
  if (rules_.keys == KeyRotation::none || !rules_.ranks) return add_run(n, query);
  // Keys at their ranks count the hidden ones too. Elsewhere only distances matter.
  if (rules_.keys == KeyRotation::at_rank) return add_run(n, static_cast<Position>(hidden + n - 1));
  const auto add = [&](Position first, std::size_t count, std::size_t rank) {
    add_run(count, static_cast<Position>(n - 1 - rank + first));
  };
  for_each_run_before_recent(visible, add);
  add(visible.recent.first, visible.recent.size(), n - visible.recent.size());
}

std::span<const QueryRun> QueryRotation::rotate(const QueryBlock& block) {
  const std::size_t per_token = block.heads * dim_;
  const std::size_t per_run = block.tokens * per_token;
  rotated_.resize(runs_.size() * per_run);
  // Tokens outside, runs inside: a token's query is read once and is then in the first-level cache.
  for (std::size_t i = 0; i < block.tokens; ++i) {
    const float* query = block.first + i * block.stride;
    const std::size_t less = block.before_last - i;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const auto position = static_cast<Position>(rotations_[run] - less);
      float* out = rotated_.data() + run * per_run + i * per_token;
      for (std::size_t h = 0; h < block.heads; ++h) {
        rope_.rotate(query + h * dim_, dim_, position, out + h * dim_);
      }
    }
  }
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    runs_[run].queries = rotated_.data() + run * per_run;
  }
  return runs_;
}

}  // namespace kv::model
