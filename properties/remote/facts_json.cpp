#include "kvcheck/properties/remote/facts_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"

namespace kv::properties {
namespace {

constexpr std::int64_t ids_per_variant = 10'000'000;
constexpr std::int64_t most_id = 1000 * ids_per_variant;
constexpr std::int64_t most_place = 1 << 20;

std::string place_text(const Place& place) {
  return "[" + std::to_string(place.sequence) + "," + std::to_string(place.layer) + "," +
         std::to_string(place.head) + "]";
}

bool reports_places(const Row& row) {
  return row.value_place != place_not_reported || row.key_place != place_not_reported;
}

bool is_plain(const Row& row) {
  return row.key == row.value && !reports_places(row) && std::isnan(row.position) &&
         std::isnan(row.key_error) && row.full_precision && !row.apart && std::isnan(row.steps_off);
}

// The places of all rows; nothing if some row does not report its own.
void add_places(std::string_view name,
                const std::vector<Row>& rows,
                Place Row::*place,
                JsonObject& object) {
  if (std::ranges::count(rows, place_not_reported, place) > 0) return;
  object.add_raw(name, json_list(rows, [&](const Row& row) { return place_text(row.*place); }));
}

std::string rows_json(const std::vector<Row>& rows) {
  const auto value = [](const Row& row) { return std::to_string(id_of(row.value)); };
  bool plain = true;
  for (const Row& row : rows) plain &= is_plain(row);
  if (plain) return json_list(rows, value);
  JsonObject object;
  object.add_raw("values", json_list(rows, value));
  if (std::ranges::any_of(rows, [](const Row& r) { return r.apart || r.key != r.value; })) {
    object.add_raw("keys",
                   json_list(rows, [](const Row& r) { return std::to_string(id_of(r.key)); }));
  }
  add_places("value_places", rows, &Row::value_place, object);
  add_places("key_places", rows, &Row::key_place, object);
  object.add_raw("positions", json_list(rows, [](const Row& r) { return shortest(r.position); }));
  if (std::ranges::any_of(rows, [](const Row& r) { return !std::isnan(r.key_error); })) {
    object.add_raw("key_errors",
                   json_list(rows, [](const Row& r) { return shortest(r.key_error); }));
  }
  if (std::ranges::any_of(rows, [](const Row& r) { return !std::isnan(r.steps_off); })) {
    object.add_raw("steps_off",
                   json_list(rows, [](const Row& r) { return shortest(r.steps_off); }));
  }
  return object
      .add_raw("full_precision",
               json_list(rows, [](const Row& r) { return r.full_precision ? "true" : "false"; }))
      .text();
}

// [[...], ...]: `queries` rows of equal length.
template <typename T>
std::string matrix(const std::vector<T>& values, std::size_t queries) {
  std::string text = "[";
  const std::size_t width = queries == 0 ? 0 : values.size() / queries;
  for (std::size_t i = 0; i < queries; ++i) {
    text += i == 0 ? "[" : ",[";
    for (std::size_t j = 0; j < width; ++j) {
      if (j > 0) text += ',';
      text += shortest(static_cast<double>(values[i * width + j]));
    }
    text += ']';
  }
  return text + "]";
}

void read_places(const JsonAt& at,
                 std::string_view name,
                 std::vector<Row>& rows,
                 Place Row::*field) {
  const auto column = at.find(name);
  if (!column) return;
  if (column->size("a list of places") != rows.size()) {
    return column->complain("there must be one place for each of the " +
                            std::to_string(rows.size()) + " rows");
  }
  std::vector<Place> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JsonAt place = (*column)[i];
    if (place.size("[sequence, layer, head]") != 3) {
      return place.expected("[sequence, layer, head]");
    }
    const auto part = [&](std::size_t which) {
      return static_cast<std::uint32_t>(place[which].integer("a number", 0, most_place));
    };
    places.push_back({part(0), part(1), part(2)});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*field = places[i];
}

// Reads what is reported of each row into a field; false, and nothing has changed, where it is not.
template <typename T, typename Read>
bool read_column(
    const JsonAt& at, std::string_view name, std::vector<Row>& rows, T Row::*field, Read read) {
  const auto column = at.find(name);
  if (!column) return false;
  std::vector<T> values;
  const std::size_t size = column->size("a list");
  for (std::size_t i = 0; i < size; ++i) values.push_back(read((*column)[i]));
  if (size != rows.size()) {
    column->complain("has " + std::to_string(size) + " entries for " + std::to_string(rows.size()) +
                     " rows");
    return false;
  }
  for (std::size_t i = 0; i < size; ++i) rows[i].*field = values[i];
  return true;
}

template <typename T>
std::vector<T> read_matrix(const JsonAt& at,
                           std::string_view name,
                           std::size_t queries,
                           std::size_t width) {
  const auto field = at.find(name);
  std::vector<T> values;
  if (!field) return values;
  const std::size_t rows = field->size("a list of lists of numbers");
  if (rows != queries) field->complain("must have one list per token fed");
  for (std::size_t i = 0; i < rows; ++i) {
    const JsonAt row = (*field)[i];
    const std::size_t size = row.size("a list of numbers");
    if (size != width) row.complain("must have one number per returned row");
    for (std::size_t j = 0; j < size; ++j) {
      values.push_back(static_cast<T>(row[j].number("a number or null")));
    }
  }
  if (values.size() != queries * width) values.clear();
  return values;
}

std::optional<std::uint64_t> read_optional(const JsonAt& at, std::string_view name) {
  const auto field = at.find(name);
  if (!field) return std::nullopt;
  return field->unsigned64("a whole number");
}

}  // namespace

std::int64_t id_of(Token token) {
  return token.position < 0 ? -1 : token.variant * ids_per_variant + token.position;
}

Token read_token(const JsonAt& at) {
  return token_of(at.integer("a token id", -1, most_id));
}

Token token_of(std::int64_t id) {
  if (id < 0) return {};
  return {.position = static_cast<std::int32_t>(id % ids_per_variant),
          .variant = static_cast<std::int32_t>(id / ids_per_variant)};
}

void append_float(std::string& text, float value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

std::string unit_json(const UnitFacts& unit, std::size_t queries) {
  JsonObject object;
  if (queries > 0 || !unit.returned.empty()) {
    object.add_raw("returned", rows_json(unit.returned));
    std::string visible = "[";
    for (std::size_t i = 0; i < queries; ++i) {
      visible += i == 0 ? "\"" : ",\"";
      for (std::size_t j = 0; j < unit.mask_width; ++j) {
        visible += unit.visible[i * unit.mask_width + j] != 0 ? '1' : '0';
      }
      visible += '"';
    }
    object.add_raw("visible", visible + "]");
  }
  if (!unit.query_positions.empty()) {
    object.add_raw("query_positions", json_list(unit.query_positions, shortest));
  }
  if (!unit.key_positions.empty()) {
    object.add_raw("key_positions", matrix(unit.key_positions, queries));
  }
  if (!unit.weights.empty()) object.add_raw("weights", matrix(unit.weights, queries));
  object.add_raw("stored", rows_json(unit.stored));
  if (unit.reported) object.add("reported", *unit.reported);
  if (unit.moved) object.add("moved", *unit.moved);
  if (unit.bytes) object.add("bytes", *unit.bytes);
  return object.text();
}

std::vector<Row> read_rows(const JsonAt& at) {
  std::vector<Row> rows;
  const bool plain = at.is_array();
  if (!plain) {
    at.only({"values", "keys", "value_places", "key_places", "positions", "key_errors", "steps_off",
             "full_precision"});
  }
  const JsonAt values = plain ? at : at.need("values");
  const std::size_t count = values.size("a list of token ids");
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(row_of(read_token(values[i])));
  }
  if (plain) return rows;
  const auto number = [](const JsonAt& item) { return item.number("a number or null"); };
  const bool apart = read_column(at, "keys", rows, &Row::key, read_token);
  for (Row& row : rows) row.apart = apart;
  read_column(at, "positions", rows, &Row::position, number);
  read_column(at, "key_errors", rows, &Row::key_error, number);
  read_column(at, "steps_off", rows, &Row::steps_off, number);
  read_column(at, "full_precision", rows, &Row::full_precision,
              [](const JsonAt& item) { return item.boolean("a flag"); });
  read_places(at, "value_places", rows, &Row::value_place);
  read_places(at, "key_places", rows, &Row::key_place);
  return rows;
}

void read_visible(const JsonAt& at, std::size_t queries, UnitFacts& unit) {
  unit.mask_width = unit.returned.size();
  const auto field = at.find("visible");
  const std::size_t rows = field ? field->size("a list of texts of 0 and 1") : 0;
  if (rows != queries) {
    (field ? *field : at)
        .complain("expected " + std::to_string(queries) +
                  " texts of 0 and 1 as \"visible\", one per token fed, found " +
                  std::to_string(rows));
    unit.visible.assign(queries * unit.mask_width, 0);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const JsonAt row = (*field)[i];
    const std::string text = row.text("a row of the mask");
    if (i == 0) unit.mask_width = text.size();
    if (text.size() != unit.mask_width || text.find_first_not_of("01") != std::string::npos) {
      row.expected("a text of " + std::to_string(unit.mask_width) + " characters 0 and 1");
    }
    for (std::size_t j = 0; j < unit.mask_width; ++j) {
      unit.visible.push_back(j < text.size() && text[j] == '1' ? 1 : 0);
    }
  }
}

void read_query_facts(const JsonAt& at, std::size_t queries, UnitFacts& unit) {
  if (const auto field = at.find("query_positions")) {
    for (std::size_t i = 0; i < field->size("a list of numbers"); ++i) {
      unit.query_positions.push_back((*field)[i].number("a number or null"));
    }
    if (unit.query_positions.size() != queries) {
      field->complain("must have one number per token fed");
      unit.query_positions.clear();
    }
  }
  const std::size_t rows = unit.returned.size();
  unit.key_positions = read_matrix<double>(at, "key_positions", queries, rows);
  unit.weights = read_matrix<float>(at, "weights", queries, rows);
}

void read_counts(const JsonAt& at, UnitFacts& unit) {
  unit.reported = read_optional(at, "reported");
  unit.moved = read_optional(at, "moved");
  unit.bytes = read_optional(at, "bytes");
}

UnitFacts read_unit(const JsonAt& at, std::size_t queries) {
  at.only({"returned", "visible", "query_positions", "key_positions", "weights", "stored",
           "reported", "moved", "bytes"});
  UnitFacts unit;
  if (queries > 0) {
    unit.returned = read_rows(at.need("returned"));
    read_visible(at, queries, unit);
    read_query_facts(at, queries, unit);
  }
  unit.stored = read_rows(at.need("stored"));
  read_counts(at, unit);
  return unit;
}

}  // namespace kv::properties
