#include "kvcheck/model/attention/attend_query.h"

#include <cmath>

#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/numbers.h"

namespace kv::model {

QueryAttention::QueryAttention(RopeCache& rope,
                               std::size_t head_dim,
                               RotationRules rules,
                               double cap)
    : rope_(rope),
      dim_(head_dim),
      rules_(rules),
      cap_(cap),
      rotation_(rope, head_dim, rules),
      reader_(rope, head_dim) {}

std::span<const float> QueryAttention::attend(const AttendedRows& rows,
                                              const TokenQuery& query,
                                              bool wants_mass) {
  mass_.resize(rows.heads * rows.visible.size());
  if (rules_.keys == KeyRotation::at_read) {
    attend_raw(rows, query);
  } else if (cap_ > 0) {
    attend_capped(rows, query);
  } else {
    attend_stored(rows, query, wants_mass);
  }
  return mass_;
}

void QueryAttention::attend_stored(const AttendedRows& rows,
                                   const TokenQuery& query,
                                   bool wants_mass) {
  const std::size_t n = rows.visible.size();
  rotation_.plan(rows.visible, query.position, rows.hidden);
  const auto runs =
      rotation_.rotate({.first = query.q + rows.first_head * dim_, .heads = rows.heads});
  const auto [keys, values] = reader_.read(rows.store, rows.slots);
  state_.resize(rows.heads * attend_state);
  attend_kernels().attend({.keys = keys,
                           .values = values,
                           .runs = runs,
                           .vectors = rows.heads,
                           .scale = 1.0F / std::sqrt(static_cast<float>(dim_)),
                           .logits = wants_mass ? mass_.data() : nullptr,
                           .stride = n,
                           .state = state_.data(),
                           .out = query.out + rows.first_head * dim_});
  if (!wants_mass) return;
  for (std::size_t h = 0; h < rows.heads; ++h) kernels().softmax(mass_.data() + h * n, n);
}

// In two passes, with the whole row of logits between them: the copy of all keys that comes first
// costs more than the pass that an online softmax would save.
void QueryAttention::attend_raw(const AttendedRows& rows, const TokenQuery& query) {
  const std::size_t n = rows.visible.size();
  const auto [keys, values] = reader_.read_raw(rows.store, rows.slots, rows.visible, rules_.ranks);
  const Position position = rules_.ranks ? static_cast<Position>(n - 1) : query.position;
  queries_.resize(rows.heads * dim_);
  for (std::size_t h = 0; h < rows.heads; ++h) {
    const float* head = query.q + (rows.first_head + h) * dim_;
    rope_.rotate(head, dim_, position, queries_.data() + h * dim_);
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim_));
  model_kernels().logits(keys, queries_.data(), rows.heads, scale, n, mass_.data());
  weigh_values(rows, values, query);
}

// In two passes too: the kernel that reads keys and values together has no caps, which one family
// needs (Gemma 2).
void QueryAttention::attend_capped(const AttendedRows& rows, const TokenQuery& query) {
  const std::size_t n = rows.visible.size();
  rotation_.plan(rows.visible, query.position, rows.hidden);
  const auto runs =
      rotation_.rotate({.first = query.q + rows.first_head * dim_, .heads = rows.heads});
  const auto [keys, values] = reader_.read_numbers(rows.store, rows.slots);
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim_));
  std::size_t begin = 0;
  for (const QueryRun& run : runs) {
    SlotRows part = keys;
    part.slots += begin;
    part.count = run.end - begin;
    model_kernels().logits(part, run.queries, rows.heads, scale, n, mass_.data() + begin);
    begin = run.end;
  }
  weigh_values(rows, values, query);
}

// Turns the logits in mass_ into attention, and writes the weighted sums of the values.
void QueryAttention::weigh_values(const AttendedRows& rows,
                                  const SlotRows& values,
                                  const TokenQuery& query) {
  const std::size_t n = rows.visible.size();
  cap_logits(cap_, mass_);
  for (std::size_t h = 0; h < rows.heads; ++h) kernels().softmax(mass_.data() + h * n, n);
  float* out = query.out + rows.first_head * dim_;
  model_kernels().weigh(values, mass_.data(), rows.heads, n, out);
}

}  // namespace kv::model
