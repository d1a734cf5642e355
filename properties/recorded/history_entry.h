// What one line of a history says of a unit. HISTORY.md is the specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// What is known of a unit before the line is read.
struct UnitBefore {
  std::span<const Row> stored;  // in slot order
  std::span<const Token> fed;   // the tokens that the call takes in; none if it feeds nothing
};

// The units that an entry speaks for, in rising order, by their index in Facts::units. Complains of
// places that do not exist, and then names none.
std::vector<std::size_t> units_of(const JsonAt& entry, const Heads& heads);

// At least as many bytes as the facts will take that the entry states of one unit. Cost: none that
// depends on the rows, so that what is too much is not read.
std::uint64_t entry_bytes(const JsonAt& entry, const UnitBefore& before);

// The facts that the entry states. Complains of everything that HISTORY.md does not allow.
UnitFacts read_entry(const JsonAt& entry, const UnitBefore& before);

// Whether the entry says what queries saw.
bool states_mask(const JsonAt& entry);

}  // namespace kv::properties
