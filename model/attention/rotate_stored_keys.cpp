#include "kvcheck/model/attention/rotate_stored_keys.h"

#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"

namespace kv::model {

KeyShift::KeyShift(const Rope& rope, std::vector<double> frequencies, bool in_f16)
    : rope_(rope), frequencies_(std::move(frequencies)), in_f16_(in_f16) {}

void KeyShift::close_gaps(KvStore& store, std::span<const Slot> slots, std::span<Position> places) {
  // Evictions only close gaps, so a key never moves towards higher ranks.
  const auto gap = [&](std::size_t rank) {
    KV_CHECK(places[slots[rank]] >= rank);
    return places[slots[rank]] - static_cast<Position>(rank);
  };
  for (std::size_t rank = 0, end = 0; rank < slots.size(); rank = end) {
    const Position positions = gap(rank);
    for (end = rank + 1; end < slots.size() && gap(end) == positions; ++end) continue;
    if (positions == 0) continue;
    rotate(store, slots.subspan(rank, end - rank), step_back(positions));
    for (std::size_t i = rank; i < end; ++i) places[slots[i]] = static_cast<Position>(i);
  }
}

void KeyShift::rotate(KvStore& store, std::span<const Slot> slots, const Step& step) {
  const auto pairs = [&](RotatedRows rows) {
    rows.layout = rope_.layout;
    rows.pairs = frequencies_.size();
    return rows;
  };
  if (!store.rotates_in_place()) {
    // Codes cannot be rotated: the key is widened, rotated as f32, and quantised again with a step
    // of its own. In full precision it is only rounded again.
    constexpr Slot only = 0;
    key_.resize(store.dim());
    for (const Slot slot : slots) {
      store.key(slot, key_.data());
      const RotatedRows row{.rows = reinterpret_cast<std::byte*>(key_.data()),
                            .dim = key_.size(),
                            .slots = &only,
                            .count = 1};
      rotate_kernels().rotate(Number::f32, pairs(row), step.cosines.data(), step.sines.data());
      store.put_key(slot, key_.data());
    }
  } else if (in_f16_) {
    rotate_kernels().rotate_f16(pairs(store.keys_to_rotate(slots)), step.halves.data());
  } else {
    rotate_kernels().rotate(static_cast<Number>(store.storage()),
                            pairs(store.keys_to_rotate(slots)), step.cosines.data(),
                            step.sines.data());
  }
}

const KeyShift::Step& KeyShift::step_back(Position positions) {
  // A window always shifts by one and a lazy cache by its slack, so a few steps serve the whole
  // stream. A policy that samples shifts by anything; the limit bounds what it makes us keep.
  constexpr std::size_t most_kept = 256;
  if (const auto found = steps_.find(positions); found != steps_.end()) return found->second;
  if (steps_.size() == most_kept) steps_.clear();
  Step step;
  for (const double frequency : frequencies_) {
    const double angle = -frequency * static_cast<double>(positions);
    step.cosines.push_back(static_cast<float>(std::cos(angle)));
    step.sines.push_back(static_cast<float>(std::sin(angle)));
    step.halves.push_back(f32_to_f16(step.cosines.back()));
    step.halves.push_back(f32_to_f16(step.sines.back()));
  }
  return steps_.emplace(positions, std::move(step)).first->second;
}

}  // namespace kv::model
