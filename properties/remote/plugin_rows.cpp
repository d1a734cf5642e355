#include "kvcheck/properties/remote/plugin_rows.h"

#include <limits>

#include "kvcheck/properties/cases/payload.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::properties {
namespace {

static_assert(KVP_KEY_SIZE == key_size && KVP_VALUE_SIZE == value_size);

bool has(const kvp_plugin& plugin, std::uint32_t flag) {
  return (plugin.flags & flag) != 0;
}

PairLayout layout_of(const kvp_plugin& plugin) {
  return has(plugin, KVP_INTERLEAVED) ? PairLayout::interleaved : PairLayout::half_split;
}

Number type_of(const kvp_plugin& plugin) {
  constexpr Number types[] = {Number::f32, Number::f16, Number::bf16};
  return types[plugin.dtype];
}

void add(std::span<const float> numbers, Number type, std::vector<std::byte>& bytes) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + numbers.size() * bytes_of(type));
  write_numbers(numbers, type, bytes.data() + begin);
}

void give_tensors(const kvp_plugin& plugin,
                  const TensorRows& rows,
                  const Setup& setup,
                  const Feed& feed,
                  Given& given) {
  const Heads heads{setup};
  std::vector<float> key(rows.key_size());
  std::vector<float> value(rows.value_size());
  for (std::size_t i = 0; i < heads.count(); ++i) {
    for (const Token token : feed.tokens) {
      const double position = has(plugin, KVP_RAW_KEYS) ? 0 : token.position;
      rows.encode_key(token, heads.place_of(i), position, key);
      rows.encode_value(token, heads.place_of(i), value);
      add(key, type_of(plugin), given.keys);
      add(value, type_of(plugin), given.values);
    }
  }
}

void give_rows(const kvp_plugin& plugin, const Setup& setup, const Feed& feed, Given& given) {
  const Heads heads{setup};
  for (std::size_t i = 0; i < heads.count(); ++i) {
    const Place place = heads.place_of(i);
    for (const Token token : feed.tokens) {
      const double position = has(plugin, KVP_RAW_KEYS) ? 0 : token.position;
      const KeyVector key = encode_key(token, place, position, layout_of(plugin));
      const ValueVector value = encode_value(token, place);
      add(key, Number::f32, given.keys);
      add(value, Number::f32, given.values);
    }
  }
}

void give_logits(const Setup& setup, std::span<const Token> fed, const Feed& feed, Given& given) {
  std::vector<Token> keys(fed.begin(), fed.end());
  keys.insert(keys.end(), feed.tokens.begin(), feed.tokens.end());
  const Heads heads{setup, Unit::head};
  for (std::size_t i = 0; i < heads.count(); ++i) {
    const Payer payer = heads.payer_of(i);
    for (std::size_t query = fed.size(); query < keys.size(); ++query) {
      for (std::size_t key = 0; key < keys.size(); ++key) {
        given.logits.push_back(key > query ? -std::numeric_limits<float>::infinity()
                                           : feed.stream.logit(payer, keys[query], keys[key]));
      }
    }
  }
}

// Rows as a plugin reports them.
struct ReportedRows {
  const std::int64_t* ids;
  const float* keys;
  const float* values;
  const double* positions;
};

// The numbers of a row of the plugin's own.
std::vector<float> numbers_at(const kvp_plugin& plugin,
                              const float* rows,
                              std::size_t size,
                              std::size_t i) {
  std::vector<float> numbers(size);
  const std::size_t bytes = i * size * bytes_of(type_of(plugin));
  read_numbers(reinterpret_cast<const std::byte*>(rows) + bytes, type_of(plugin), numbers);
  return numbers;
}

Row row_at(const kvp_plugin& plugin,
           const std::optional<TensorRows>& rows,
           const ReportedRows& reported,
           std::size_t i) {
  Row row;
  if (has(plugin, KVP_ROWS)) {
    if (reported.keys == nullptr || reported.values == nullptr)
      throw SubjectFailed("it reported no keys or values");
    const KeyReading key =
        rows ? rows->read_key(numbers_at(plugin, reported.keys, rows->key_size(), i))
             : read_key(std::span<const float, key_size>(reported.keys + i * key_size, key_size),
                        layout_of(plugin));
    const ValueReading value =
        rows ? rows->read_value(numbers_at(plugin, reported.values, rows->value_size(), i))
             : read_value(std::span<const float, value_size>(reported.values + i * value_size,
                                                             value_size));
    row = {.value = value.token,
           .key = key.token,
           .value_place = value.place,
           .key_place = key.place,
           .position = key.position,
           .key_error = key.error,
           .apart = true};
  } else {
    if (reported.ids == nullptr) throw SubjectFailed("it reported a number of rows and no ids");
    row = row_of(token_of(reported.ids[i]));
  }
  if (reported.positions != nullptr) row.position = reported.positions[i];
  return row;
}

void masks(const kvp_unit& reported, std::size_t queries, UnitFacts& unit) {
  unit.mask_width = reported.mask_width;
  const std::size_t bits = queries * reported.mask_width;
  if (bits > 0 && reported.visible == nullptr) throw SubjectFailed("it reported no mask");
  if (bits > 0) unit.visible.assign(reported.visible, reported.visible + bits);
  if (reported.query_positions != nullptr) {
    unit.query_positions.assign(reported.query_positions, reported.query_positions + queries);
  }
  if (reported.weights != nullptr) {
    unit.weights.assign(reported.weights, reported.weights + queries * reported.returned);
  }
}

TensorFormat format_of(const kvp_plugin& plugin) {
  return {.head_dim = plugin.head_dim,
          .value_dim = plugin.value_dim,
          .type = type_of(plugin),
          .interleaved = has(plugin, KVP_INTERLEAVED)};
}

}  // namespace

std::optional<TensorRows> tensor_rows(const kvp_plugin& plugin) {
  if (!has(plugin, KVP_ROWS) || plugin.head_dim == 0) return std::nullopt;
  return TensorRows(format_of(plugin));
}

std::string wrong_rows(const kvp_plugin& plugin) {
  if (!has(plugin, KVP_ROWS)) return {};
  if (plugin.head_dim == 0) {
    if (plugin.value_dim == 0 && plugin.dtype == KVP_F32) return {};
    return "head_dim is 0; with a value_dim or a dtype, expected the numbers in a key";
  }
  if (plugin.dtype > KVP_BF16) {
    return "dtype is " + std::to_string(plugin.dtype) +
           "; expected KVP_F32 (0), KVP_F16 (1) or KVP_BF16 (2)";
  }
  return wrong_format(format_of(plugin));
}

Given give(const kvp_plugin& plugin,
           const std::optional<TensorRows>& rows,
           const Setup& setup,
           std::span<const Token> fed,
           const Feed& feed) {
  Given given;
  for (const Token token : feed.tokens) given.ids.push_back(id_of(token));
  if (rows) {
    give_tensors(plugin, *rows, setup, feed, given);
  } else if (has(plugin, KVP_ROWS)) {
    give_rows(plugin, setup, feed, given);
  }
  if (has(plugin, KVP_LOGITS)) give_logits(setup, fed, feed, given);
  return given;
}

UnitFacts unit_facts(const kvp_plugin& plugin,
                     const std::optional<TensorRows>& rows,
                     const kvp_unit& reported,
                     std::size_t queries) {
  UnitFacts unit;
  const ReportedRows returned{reported.returned_ids, reported.returned_keys,
                              reported.returned_values, reported.returned_positions};
  const ReportedRows stored{reported.stored_ids, reported.stored_keys, reported.stored_values,
                            reported.stored_positions};
  for (std::size_t i = 0; queries > 0 && i < reported.returned; ++i) {
    unit.returned.push_back(row_at(plugin, rows, returned, i));
  }
  for (std::size_t i = 0; i < reported.stored; ++i) {
    unit.stored.push_back(row_at(plugin, rows, stored, i));
  }
  if (queries > 0) masks(reported, queries, unit);
  const auto counted = [](std::int64_t count) {
    return count < 0 ? std::nullopt
                     : std::optional<std::uint64_t>(static_cast<std::uint64_t>(count));
  };
  unit.reported = counted(reported.reported);
  unit.moved = counted(reported.moved);
  unit.bytes = counted(reported.bytes);
  return unit;
}

}  // namespace kv::properties
