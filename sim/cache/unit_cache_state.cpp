// The state of a cache: copied, written as bytes and read back.
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

UnitCache UnitCache::fork(std::unique_ptr<Draws> draws) const {
  KV_CHECK(state_.query == state_.seen);
  return {*this, std::move(draws)};
}

void UnitCache::save(ByteWriter& writer) const {
  KV_CHECK(state_.query == state_.seen);
  writer.put(state_.seen);
  writer.put(state_.tail);
  writer.put(state_.middle);
  writer.put(state_.entered);
  state_.slots.save(writer);
  writer.put(state_.first_gap);
  writer.put(state_.evicted);
  writer.put(state_.counts.trims);
  writer.put(state_.counts.evicted);
  writer.put(state_.counts.moved);
  policy_->save(writer);
}

void UnitCache::load(ByteReader& reader) {
  state_.seen = state_.query = reader.get<Position>();
  state_.tail = reader.get<Position>();
  reader.get(state_.middle);
  state_.entered = reader.get<std::uint64_t>();
  state_.slots.load(reader);
  state_.first_gap = reader.get<std::size_t>();
  reader.get(state_.evicted);
  state_.counts.trims = reader.get<std::uint64_t>();
  state_.counts.evicted = reader.get<std::uint64_t>();
  state_.counts.moved = reader.get<std::uint64_t>();
  policy_->load(reader);
}

}  // namespace kv
