#include "kvcheck/properties/tagged/tagged_state.h"

#include <type_traits>

#include "kvcheck/base/bytes.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t mark = 0x706c61696e2d6b76U;

// One walk over the fields serves writing and reading: `field` is called with each of them.
template <typename Row, typename Field>
void walk_row(Row& row, Field field) {
  const auto fields = [&](auto&... all) { (field(all), ...); };
  fields(row.token.position, row.token.variant, row.position, row.slot, row.evicted, row.masked,
         row.gathered, row.queries, row.last);
  for (auto& vectors : row.vectors) {
    for (auto& x : vectors.key) field(x);
    for (auto& x : vectors.value) field(x);
    fields(vectors.full_precision, vectors.token.position, vectors.token.variant,
           vectors.place.sequence, vectors.place.layer, vectors.place.head, vectors.position);
    for (auto& step : vectors.steps) field(step);
  }
}

template <typename Unit, typename Field>
void walk_unit(Unit& unit, Field field) {
  const auto fields = [&](auto&... all) { (field(all), ...); };
  fields(unit.fed, unit.released, unit.entered, unit.newcomers, unit.moved);
}

}  // namespace

std::vector<std::uint32_t> owners_of(std::uint32_t layers) {
  std::vector<std::uint32_t> each;
  const std::uint32_t owners = (layers + 1) / 2;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    if (layer < owners) {
      each.push_back(layer);
    } else {
      const bool alike = (layer + owners) % 2 == 1;  // as the last owner
      each.push_back(alike || owners == 1 ? owners - 1 : owners - 2);
    }
  }
  return each;
}

std::vector<std::uint8_t> save_state(const TaggedState& state) {
  ByteWriter writer;
  const auto put = [&](const auto& value) { writer.put(value); };
  writer.put(mark);
  writer.put(state.units.size());
  writer.put(state.fed);
  writer.put(state.prompt);
  for (const CacheUnit& unit : state.units) {
    walk_unit(unit, put);
    writer.put(unit.notes);
    writer.put(unit.rows.size());
    for (const StoredRow& row : unit.rows) {
      walk_row(row, put);
      writer.put(row.key);
    }
  }
  std::vector<std::uint8_t> bytes;
  bytes.reserve(writer.bytes().size());
  for (const std::byte byte : writer.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

bool load_state(std::span<const std::uint8_t> bytes, std::size_t heads, TaggedState& state) {
  ByteReader reader(std::as_bytes(bytes));
  const auto get = [&](auto& value) { value = reader.get<std::decay_t<decltype(value)>>(); };
  if (reader.get<std::uint64_t>() != mark) return false;
  if (reader.get<std::size_t>() != state.units.size()) return false;
  TaggedState loaded;
  loaded.fed = reader.get<std::uint64_t>();
  loaded.prompt = reader.get<std::uint64_t>();
  loaded.units.resize(state.units.size());
  for (CacheUnit& unit : loaded.units) {
    walk_unit(unit, get);
    reader.get(unit.notes);
    const auto rows = reader.get<std::size_t>();
    if (rows > bytes.size()) return false;
    unit.rows.resize(rows);
    for (StoredRow& row : unit.rows) {
      row.vectors.resize(heads);
      walk_row(row, get);
      reader.get(row.key);
    }
  }
  if (!reader.finished()) return false;
  state = std::move(loaded);
  return true;
}

}  // namespace kv::properties
