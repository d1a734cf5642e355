// The steps of a plain cache's call.
#include <algorithm>
#include <numeric>

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

void PlainSubject::make_room(PlainGroup& group, std::size_t chunk) {
  if (options_.timing != Timing::trim_then_attend) return;
  if (options_.visibility == Visibility::causal) release(group, group.fed + chunk);
  free_rows(group);
}

void PlainSubject::append(PlainGroup& group, std::span<const Token> tokens) {
  for (const Token token : tokens) {
    PlainRow row;
    row.token = token;
    row.slot = slot_for(group, token);
    row.position = append_position(group, token);
    for (std::size_t cell = 0; cell < shared(); ++cell) {
      row.cells.push_back(make_cell(token, first_unit(group) + cell, row.position));
    }
    group.rows.push_back(row);
    ++group.fed;
  }
}

double PlainSubject::append_position(const PlainGroup& group, Token token) {
  if (options_.positions == PositionMode::absolute) return token.position;
  if (options_.positions == PositionMode::shifted) return static_cast<double>(group.rows.size());
  return 0;  // stored as it is before rotation
}

std::size_t PlainSubject::slot_for(PlainGroup& group, Token token) {
  if (options_.slots == PlainSlots::in_order) return group.rows.size();
  if (options_.slots == PlainSlots::lowest_free) {
    std::size_t slot = 0;
    while (std::ranges::find(group.rows, slot, &PlainRow::slot) != group.rows.end()) ++slot;
    return slot;
  }
  const auto position = static_cast<std::size_t>(token.position);
  if (position < contract_.sinks) return position;
  const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
  const std::size_t slot = contract_.sinks + (position - contract_.sinks) % ring;
  std::erase_if(group.rows, [slot](const PlainRow& row) { return row.slot == slot; });
  return slot;
}

PlainCell PlainSubject::make_cell(Token token, std::size_t unit, double position) {
  PlainCell cell{encode_key(token, place_of(unit), position, options_.layout),
                 encode_value(token, place_of(unit)),
                 true,
                 {token, place_of(unit), position},
                 {}};
  if (has_tiers(options_.precision)) return cell;  // until it is no longer recent
  store_as(cell.key, options_.precision);
  store_as(cell.value, options_.precision);
  return cell;
}

std::vector<std::size_t> PlainSubject::stored_rows(const PlainGroup& group) {
  std::vector<std::size_t> rows(group.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto slot = [&](std::size_t row) { return group.rows[row].slot; };
  if (!std::ranges::is_sorted(rows, {}, slot)) std::ranges::stable_sort(rows, {}, slot);
  return rows;
}

std::vector<std::size_t> PlainSubject::returned_rows(const PlainGroup& group, std::size_t) {
  return stored_rows(group);
}

void PlainSubject::before_query(PlainGroup& group, Token query) {
  if (options_.visibility != Visibility::window) return;
  release(group, static_cast<std::uint64_t>(query.position) + 1);
}

bool PlainSubject::may_see(const PlainGroup&, const PlainRow& row, Token query) {
  return !row.gone && row.token.position <= query.position;
}

std::vector<std::uint8_t> PlainSubject::mask_row(const PlainGroup& group,
                                                 const std::vector<std::size_t>& returned,
                                                 std::span<const Token> chunk,
                                                 std::size_t query) {
  std::vector<std::uint8_t> mask;
  mask.reserve(returned.size());
  for (const std::size_t row : returned) {
    mask.push_back(may_see(group, group.rows[row], chunk[query]) ? 1 : 0);
  }
  return mask;
}

double PlainSubject::query_position(const PlainGroup& group,
                                    Token query,
                                    const std::vector<std::size_t>& visible) {
  if (options_.positions == PositionMode::absolute) return query.position;
  if (options_.positions == PositionMode::in_cache) {
    return static_cast<double>(visible.size()) - 1;
  }
  const auto own = std::ranges::find(group.rows, query, &PlainRow::token);
  return own == group.rows.end() ? not_reported : own->position;
}

void PlainSubject::observe(PlainGroup& group,
                           const std::vector<std::size_t>& visible,
                           std::span<const float> mass) {
  for (std::size_t i = 0; i < visible.size(); ++i) {
    PlainRow& row = group.rows[visible[i]];
    row.gathered += static_cast<double>(mass[i]);
    row.queries += 1;
    row.last = mass[i];
  }
}

void PlainSubject::after_chunk(PlainGroup& group) {
  const bool within = options_.timing == Timing::lazy &&
                      group.rows.size() <= std::size_t{contract_.budget} + options_.slack;
  if (options_.timing != Timing::trim_then_attend && !within) {
    release(group, group.fed);
    free_rows(group);
  }
  lower_precision(group);
}

void PlainSubject::lower_precision(PlainGroup& group) {
  if (!has_tiers(options_.precision)) return;
  for (PlainRow& row : group.rows) {
    if (!is_old(group, row)) continue;
    for (PlainCell& cell : row.cells) {
      if (cell.full_precision) lower(cell);
    }
  }
}

bool PlainSubject::is_old(const PlainGroup& group, const PlainRow& row) {
  const auto age = group.fed - static_cast<std::uint64_t>(row.token.position);
  return age > options_.full_precision_recent &&
         row.token.position >= static_cast<std::int32_t>(contract_.full_precision_sinks);
}

void PlainSubject::lower(PlainCell& cell) {
  const auto keys = store_in_groups(cell.key, options_.precision);
  const auto values = store_in_groups(cell.value, options_.precision);
  std::ranges::copy(values, std::ranges::copy(keys, cell.steps.begin()).out);
  cell.full_precision = false;
}

void PlainSubject::free_rows(PlainGroup& group) {
  if (options_.slots == PlainSlots::ring) return;  // rows go when they are written over
  const auto page_at = [&](std::uint64_t position) {
    const std::uint64_t sinks = contract_.sinks;
    return position < sinks ? 0 : 1 + (position - sinks) / options_.page;
  };
  const auto page_of = [&](const PlainRow& row) {
    return page_at(static_cast<std::uint64_t>(row.token.position));
  };
  std::vector<bool> remains(page_at(group.fed) + 1);
  for (const PlainRow& row : group.rows) {
    if (!row.gone) remains[page_of(row)] = true;
  }
  if (options_.page > 1) remains.back() = true;  // it is being filled
  const auto first =
      std::ranges::find_if(group.rows, [&](const PlainRow& row) { return !remains[page_of(row)]; });
  if (first == group.rows.end()) return;
  const auto kept = first - group.rows.begin();
  std::erase_if(group.rows, [&](const PlainRow& row) { return !remains[page_of(row)]; });
  if (options_.slots == PlainSlots::in_order) {
    group.moved += group.rows.size() - static_cast<std::size_t>(kept);
  }
  close_gaps(group);
}

void PlainSubject::close_gaps(PlainGroup& group) {
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    PlainRow& row = group.rows[i];
    if (options_.slots == PlainSlots::in_order) row.slot = i;
    if (options_.positions != PositionMode::shifted) continue;
    rotate(row, static_cast<double>(i) - row.position);
  }
}

void PlainSubject::rotate(PlainRow& row, double delta) const {
  if (delta == 0) return;
  row.position += delta;
  for (PlainCell& cell : row.cells) {
    rotate_key(cell.key, delta, options_.layout);
    if (!has_tiers(options_.precision)) store_as(cell.key, options_.precision);
  }
}

std::uint64_t PlainSubject::reported(const PlainGroup& group) {
  return group.rows.size();
}

}  // namespace kv::properties
