#include "kvcheck/model/attention/rotate_stored_keys.h"

#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"

namespace kv::model {

KeyShift::KeyShift(const Rope& rope, std::vector<double> frequencies, bool in_f16)
    : rope_(rope), frequencies_(std::move(frequencies)), in_f16_(in_f16) {}

void KeyShift::close_gaps(KvStore& store, std::span<const Slot> slots, std::span<Position> places) {
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
    // Widened, turned, and made codes again, with other scales; as numbers in full precision.
    constexpr Slot only = 0;
    key_.resize(store.dim());
    for (const Slot slot : slots) {
      store.key(slot, key_.data());
      const RotatedRows row{.rows = reinterpret_cast<std::byte*>(key_.data()),
                            .dim = key_.size(),
                            .slots = &only,
                            .count = 1};
      turn_kernels().rotate(Number::f32, pairs(row), step.cosines.data(), step.sines.data());
      store.put_key(slot, key_.data());
    }
  } else if (in_f16_) {
    turn_kernels().turn_f16(pairs(store.turned_keys(slots)), step.halves.data());
  } else {
    turn_kernels().rotate(static_cast<Number>(store.storage()), pairs(store.turned_keys(slots)),
                          step.cosines.data(), step.sines.data());
  }
}

const KeyShift::Step& KeyShift::step_back(Position positions) {
  // A window shifts by one, a lazy cache by its slack; a sampler by anything.
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
