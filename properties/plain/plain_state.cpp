#include "kvcheck/properties/plain/plain_state.h"

#include <type_traits>

#include "kvcheck/base/bytes.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t mark = 0x706c61696e2d6b76U;

// One walk over the fields serves writing and reading: `field` is called with each of them.
template <typename Row, typename Field>
void walk_row(Row& row, Field field) {
  field(row.token.position);
  field(row.token.variant);
  field(row.position);
  field(row.slot);
  field(row.gone);
  field(row.gathered);
  field(row.queries);
  field(row.last);
  for (auto& cell : row.cells) {
    for (auto& x : cell.key) field(x);
    for (auto& x : cell.value) field(x);
    field(cell.full_precision);
    field(cell.tag.token.position);
    field(cell.tag.token.variant);
    field(cell.tag.place.sequence);
    field(cell.tag.place.layer);
    field(cell.tag.place.head);
    field(cell.tag.position);
    for (auto& step : cell.steps) field(step);
  }
}

template <typename Group, typename Field>
void walk_group(Group& group, Field field) {
  field(group.fed);
  field(group.released);
  field(group.entered);
  field(group.moved);
  field(group.log_w);
  field(group.next);
}

}  // namespace

std::vector<std::uint8_t> save_plain(const PlainState& state) {
  ByteWriter writer;
  const auto put = [&](const auto& value) { writer.put(value); };
  writer.put(mark);
  writer.put(state.groups.size());
  writer.put(state.fed);
  for (const PlainGroup& group : state.groups) {
    walk_group(group, put);
    writer.put(group.notes);
    writer.put(group.rows.size());
    for (const PlainRow& row : group.rows) walk_row(row, put);
  }
  std::vector<std::uint8_t> bytes;
  bytes.reserve(writer.bytes().size());
  for (const std::byte byte : writer.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

bool load_plain(std::span<const std::uint8_t> bytes, std::size_t cells, PlainState& state) {
  ByteReader reader(std::as_bytes(bytes));
  const auto get = [&](auto& value) { value = reader.get<std::decay_t<decltype(value)>>(); };
  if (reader.get<std::uint64_t>() != mark) return false;
  if (reader.get<std::size_t>() != state.groups.size()) return false;
  PlainState loaded;
  loaded.fed = reader.get<std::uint64_t>();
  loaded.groups.resize(state.groups.size());
  for (PlainGroup& group : loaded.groups) {
    walk_group(group, get);
    reader.get(group.notes);
    const auto rows = reader.get<std::size_t>();
    if (rows > bytes.size()) return false;
    group.rows.resize(rows);
    for (PlainRow& row : group.rows) {
      row.cells.resize(cells);
      walk_row(row, get);
    }
  }
  if (!reader.finished()) return false;
  state = std::move(loaded);
  return true;
}

}  // namespace kv::properties
