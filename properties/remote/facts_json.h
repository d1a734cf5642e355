// What a call did with a unit, as JSON. PROTOCOL.md is the specification.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// A token as one whole number: variant * 10,000,000 + position; -1 is no token that was ever fed.
std::int64_t id_of(Token token);

Token token_of(std::int64_t id);

// Complains of what is no id.
Token read_token(const JsonAt& at);

// `queries` is the number of tokens that the call fed. A row's place is place_not_reported unless
// it is reported.
std::string unit_json(const UnitFacts& unit, std::size_t queries);
UnitFacts read_unit(const JsonAt& at, std::size_t queries);

// Parts of read_unit(), for files that say some of it in other words. `at` is the rows themselves,
// or the object of the unit. The mask and the facts of queries require unit.returned.
std::vector<Row> read_rows(const JsonAt& at);
void read_visible(const JsonAt& at, std::size_t queries, UnitFacts& unit);
void read_query_facts(const JsonAt& at, std::size_t queries, UnitFacts& unit);
void read_counts(const JsonAt& at, UnitFacts& unit);

// The shortest text that reads back as this float.
void append_float(std::string& text, float value);

}  // namespace kv::properties
