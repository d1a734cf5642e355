// How a tagged cache stores its rows.
#include <algorithm>
#include <functional>
#include <numeric>

#include "kvcheck/properties/cases/payload.h"
#include "kvcheck/properties/tagged/tagged_cache.h"

namespace kv::properties {

StoredRow TaggedCache::make_row(CacheUnit& unit, Token token) {
  StoredRow row = CacheSteps::make_row(unit, token);
  row.slot = slot_for(unit, token);
  row.position = append_position(unit, token);
  for (std::size_t head = 0; head < heads_.sharing(); ++head) {
    row.vectors.push_back(make_vectors(token, first_head(unit) + head, row.position));
  }
  return row;
}

double TaggedCache::append_position(const CacheUnit& unit, Token token) {
  if (options_.positions == PositionMode::absolute) return token.position;
  if (options_.positions == PositionMode::shifted) return static_cast<double>(unit.rows.size());
  return 0;  // stored as it is before rotation
}

std::size_t TaggedCache::slot_for(CacheUnit& unit, Token token) {
  if (options_.closes_gaps()) return unit.rows.size();
  if (options_.slots == SlotOrder::lowest_free) {
    std::size_t slot = 0;
    while (std::ranges::find(unit.rows, slot, &StoredRow::slot) != unit.rows.end()) ++slot;
    return slot;
  }
  const auto position = static_cast<std::size_t>(token.position);
  if (position < contract_.sinks) return position;
  const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
  const std::size_t slot = contract_.sinks + (position - contract_.sinks) % ring;
  std::erase_if(unit.rows, [slot](const StoredRow& row) { return row.slot == slot; });
  return slot;
}

StoredVectors TaggedCache::make_vectors(Token token, std::size_t head, double position) {
  const Place place = place_of(head);
  StoredVectors vectors{.key = encode_key(token, place, position, options_.layout),
                        .value = encode_value(token, place),
                        .token = token,
                        .place = place,
                        .position = position};
  if (has_tiers(options_.precision)) return vectors;  // until it is no longer recent
  store_as(vectors.key, options_.precision);
  store_as(vectors.value, options_.precision);
  return vectors;
}

TaggedCache::Rows TaggedCache::stored_rows(const CacheUnit& unit) {
  Rows rows(unit.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto slot = [&](std::size_t row) { return unit.rows[row].slot; };
  if (!std::ranges::is_sorted(rows, {}, slot)) std::ranges::stable_sort(rows, {}, slot);
  return rows;
}

void TaggedCache::after_chunk(CacheUnit& unit) {
  CacheSteps::after_chunk(unit);
  if (const std::uint64_t room = ahead(); room > 0) {
    release(unit, unit.fed + room);
    free_rows(unit);
  }
  lower_precision(unit);
}

// Without slack also where nothing is too much: the same, unless a mutant has taken rows away.
bool TaggedCache::is_over_budget(std::span<const CacheUnit> units) {
  return options_.timing != Timing::lazy || CacheSteps::is_over_budget(units);
}

void TaggedCache::lower_precision(CacheUnit& unit) {
  if (!has_tiers(options_.precision)) return;
  for (StoredRow& row : unit.rows) {
    if (!is_old(unit, row)) continue;
    for (StoredVectors& vectors : row.vectors) {
      if (vectors.full_precision) lower(vectors);
    }
  }
}

bool TaggedCache::is_old(const CacheUnit& unit, const StoredRow& row) {
  const auto age = unit.fed - static_cast<std::uint64_t>(row.token.position);
  return age > options_.full_precision_recent &&
         row.token.position >= static_cast<std::int32_t>(contract_.full_precision_sinks);
}

void TaggedCache::lower(StoredVectors& vectors) {
  const auto keys = store_in_groups(vectors.key, options_.precision);
  const auto values = store_in_groups(vectors.value, options_.precision);
  std::ranges::copy(values, std::ranges::copy(keys, vectors.steps.begin()).out);
  vectors.full_precision = false;
}

std::vector<bool> TaggedCache::pages_kept(const CacheUnit& unit) const {
  const auto page = [&](const StoredRow& row) {
    return page_at(static_cast<std::uint64_t>(row.token.position));
  };
  // Rows may lie beyond the stream's end: a mutant's that takes back counters and not rows.
  std::uint64_t pages = page_at(unit.fed) + 1;
  for (const StoredRow& row : unit.rows) pages = std::max(pages, page(row) + 1);
  std::vector<bool> kept(pages);
  for (const StoredRow& row : unit.rows) {
    if (!row.evicted) kept[page(row)] = true;
  }
  if (options_.page > 1) kept[page_at(unit.fed)] = true;  // it is being filled
  return kept;
}

void TaggedCache::free_rows(CacheUnit& unit) {
  if (options_.slots == SlotOrder::ring) return;  // rows are written over instead
  const std::vector<bool> remaining = pages_kept(unit);
  const auto is_freed = [&](const StoredRow& row) {
    return !remaining[page_at(static_cast<std::uint64_t>(row.token.position))];
  };
  const auto first = std::ranges::find_if(unit.rows, is_freed);
  if (first == unit.rows.end()) return;
  const auto kept = static_cast<std::size_t>(first - unit.rows.begin());
  std::erase_if(unit.rows, is_freed);
  if (options_.closes_gaps()) unit.moved += unit.rows.size() - kept;
  close_gaps(unit);
}

void TaggedCache::close_gaps(CacheUnit& unit) {
  std::vector<StoredRow*> order;
  for (StoredRow& row : unit.rows) order.push_back(&row);
  if (options_.slots == SlotOrder::by_score) {
    std::ranges::stable_sort(order, std::greater<>(), &StoredRow::gathered);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    StoredRow& row = *order[i];
    if (options_.closes_gaps()) row.slot = i;
    if (options_.positions == PositionMode::shifted) {
      rotate(row, static_cast<double>(i) - row.position);
    }
  }
}

void TaggedCache::rotate(StoredRow& row, double delta) const {
  if (delta == 0) return;
  row.position += delta;
  for (StoredVectors& vectors : row.vectors) {
    rotate_key(vectors.key, delta, options_.layout);
    if (!has_tiers(options_.precision)) store_as(vectors.key, options_.precision);
  }
}

}  // namespace kv::properties
