#include "kvcheck/properties/recorded/history_entry.h"

#include <algorithm>
#include <set>
#include <string>

#include "kvcheck/properties/laws/judging/facts.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::properties {
namespace {

// The numbers of a field that is one number or a list of numbers below `count`; left out, all.
std::vector<std::size_t> numbers_of(const JsonAt& entry, std::string_view name, std::size_t count) {
  std::vector<std::size_t> numbers;
  const auto add = [&](const JsonAt& at) {
    const std::int64_t most = static_cast<std::int64_t>(count) - 1;
    numbers.push_back(static_cast<std::size_t>(
        at.integer("a number from 0 to " + std::to_string(most), 0, most)));
  };
  const auto field = entry.find(name);
  if (!field) {
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(i);
  } else if (!field->is_array()) {
    add(*field);
  } else if (field->size("a list") > count) {
    field->complain("has more entries than there are (" + std::to_string(count) + ")");
  } else {
    for (std::size_t i = 0; i < field->size("a list"); ++i) add((*field)[i]);
  }
  std::ranges::sort(numbers);
  // clang 14, and so lint, cannot read what std::ranges::unique returns.
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The rows that a field holds, as a list or as columns; `named` where a word stands for them.
std::uint64_t row_count(const JsonAt& entry, std::string_view name, std::uint64_t named) {
  const auto field = entry.find(name);
  if (!field) return 0;
  if (field->is_array()) return field->size("rows");
  const auto values = field->find("values");
  return values && values->is_array() ? values->size("rows") : named;
}

std::vector<Row> with_fed(const UnitBefore& before) {
  std::vector<Row> rows(before.stored.begin(), before.stored.end());
  // Positions may have changed since, and only a list of rows says to what.
  for (Row& row : rows) row.position = not_reported;
  for (const Token token : before.fed) rows.push_back(row_of(token));
  return rows;
}

// The rows that remain when those tokens are evicted.
std::vector<Row> without(std::vector<Row> rows, const JsonAt& list) {
  std::set<Token> gone;
  const std::size_t count = list.size("a list of token ids");
  for (std::size_t i = 0; i < count; ++i) {
    const Token token = read_token(list[i]);
    const auto is_token = [&](const Row& row) { return row.value == token; };
    if (!gone.insert(token).second) {
      list[i].complain("token " + to_text(token) + " is evicted twice");
    } else if (std::ranges::none_of(rows, is_token)) {
      list[i].complain("token " + to_text(token) +
                       " is evicted, but it was neither stored before the call nor fed by it");
    }
  }
  std::erase_if(rows, [&](const Row& row) { return gone.contains(row.value); });
  return rows;
}

std::vector<Row> stored_after(const JsonAt& entry, const UnitBefore& before) {
  const auto stored = entry.find("stored");
  const auto evicted = entry.find("evicted");
  if (stored && evicted) entry.complain("states both \"stored\" and \"evicted\"; expected one");
  if (stored) return read_rows(*stored);
  std::vector<Row> rows = evicted ? without(with_fed(before), *evicted) : with_fed(before);
  const auto positions = entry.find("positions");
  if (!positions) return rows;
  if (positions->size("a list of numbers") != rows.size()) {
    positions->complain("must have one number for each of the " + std::to_string(rows.size()) +
                        " rows that are stored");
    return rows;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].position = (*positions)[i].number("a number or null");
  }
  return rows;
}

std::vector<Row> returned_by(const JsonAt& entry, const UnitBefore& before, const UnitFacts& unit) {
  const auto field = entry.find("returned");
  if (!field) return states_mask(entry) ? with_fed(before) : std::vector<Row>();
  if (!field->is_string()) return read_rows(*field);
  const std::string word = field->text("rows");
  if (word == "all") return with_fed(before);
  if (word == "stored") return unit.stored;
  field->expected("rows, \"all\" or \"stored\"");
  return {};
}

// Each query sees the rows of all tokens up to itself.
void see_causally(std::span<const Token> fed, UnitFacts& unit) {
  unit.mask_width = unit.returned.size();
  for (const Token query : fed) {
    for (const Row& row : unit.returned) {
      const bool past = row.value.position >= 0 && row.value.position <= query.position;
      unit.visible.push_back(past ? 1 : 0);
    }
  }
}

void read_mask(const JsonAt& entry, const UnitBefore& before, UnitFacts& unit) {
  const auto visible = entry.find("visible");
  if (!visible) return;
  if (!visible->is_string()) return read_visible(entry, before.fed.size(), unit);
  if (visible->text("a mask") != "causal") {
    visible->expected("a list of texts of 0 and 1, or \"causal\"");
  }
  see_causally(before.fed, unit);
}

void read_bounds(const JsonAt& entry, std::size_t queries, UnitFacts& unit) {
  const auto field = entry.find("page_bounds");
  if (!field) return;
  if (field->size("a list of lists of numbers") != queries) {
    return field->complain("must have one list per token fed");
  }
  unit.page_width = (*field)[0].size("a list of numbers");
  for (std::size_t i = 0; i < queries; ++i) {
    const JsonAt row = (*field)[i];
    if (row.size("a list of numbers") != unit.page_width) {
      row.complain("must be as long as the first list");
      break;
    }
    for (std::size_t j = 0; j < unit.page_width; ++j) {
      unit.page_bounds.push_back(row[j].number("a number or null"));
    }
  }
}

}  // namespace

std::vector<std::size_t> units_of(const JsonAt& entry, const Heads& heads) {
  const Setup& setup = heads.setup;
  std::vector<std::size_t> units;
  for (const std::size_t sequence : numbers_of(entry, "sequence", setup.sequences)) {
    for (const std::size_t layer : numbers_of(entry, "layer", setup.layers)) {
      for (const std::size_t head : numbers_of(entry, "head", heads.in_layer())) {
        units.push_back(
            heads.index_of({static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(layer),
                            static_cast<std::uint32_t>(head)}));
      }
    }
  }
  return units;
}

std::uint64_t entry_bytes(const JsonAt& entry, const UnitBefore& before) {
  const std::uint64_t queries = before.fed.size();
  const std::uint64_t all = before.stored.size() + queries;
  std::uint64_t stored = row_count(entry, "stored", all);
  stored = std::max(stored, entry.find("stored") ? 0 : all);
  const std::uint64_t returned = entry.find("returned")
                                     ? row_count(entry, "returned", std::max(all, stored))
                                     : (states_mask(entry) ? all : 0);
  std::uint64_t width = returned;
  const auto visible = entry.find("visible");
  if (visible && visible->is_array() && visible->size("a mask") > 0) {
    const JsonAt first = (*visible)[0];
    if (first.is_string()) width = std::max<std::uint64_t>(width, first.text("a mask").size());
  }
  std::uint64_t pair = sizeof(std::uint8_t);
  if (entry.find("weights")) pair += sizeof(float);
  if (entry.find("key_positions")) pair += sizeof(double);
  std::uint64_t bounds = 0;
  const auto pages = entry.find("page_bounds");
  if (pages && pages->is_array() && pages->size("bounds") > 0 && (*pages)[0].is_array()) {
    bounds = (*pages)[0].size("bounds");
  }
  return (stored + returned) * sizeof(Row) + queries * width * pair +
         queries * (bounds + 1) * sizeof(double);
}

bool states_mask(const JsonAt& entry) {
  return entry.find("visible").has_value();
}

UnitFacts read_entry(const JsonAt& entry, const UnitBefore& before) {
  entry.only_ever({"sequence", "layer", "head", "stored", "evicted", "positions", "returned",
                   "visible", "listed", "query_positions", "key_positions", "weights",
                   "page_bounds", "reported", "moved", "bytes"});
  const std::size_t queries = before.fed.size();
  UnitFacts unit;
  unit.stored = stored_after(entry, before);
  if (queries > 0) {
    unit.returned = returned_by(entry, before, unit);
    read_mask(entry, before, unit);
    read_query_facts(entry, queries, unit);
    read_bounds(entry, queries, unit);
    if (const auto listed = entry.find("listed")) unit.listed = listed->boolean("a flag");
  }
  read_counts(entry, unit);
  return unit;
}

}  // namespace kv::properties
