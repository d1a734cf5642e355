// How positions are judged: the checks that several laws on rotary positions share.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kvcheck/properties/laws/judging/facts.h"
#include "kvcheck/properties/laws/judging/walk.h"

namespace kv::properties {

// One query of one unit, with the rows it sees in stream order.
struct Glance {
  const History& history;
  const Contract& contract;
  const Event& event;
  const Lineage& line;
  const UnitFacts& unit;
  std::size_t query = 0;
  std::vector<std::size_t> rows{};

  [[nodiscard]] Token asking() const { return event.fed[query]; }

  [[nodiscard]] Token token(std::size_t i) const { return unit.returned[rows[i]].key; }

  [[nodiscard]] double key(std::size_t i) const { return key_position(unit, query, rows[i]); }

  [[nodiscard]] double asked_at() const { return query_position(unit, query); }
};

using CheckGlance = std::optional<Difference> (*)(const Glance& glance, bool& tested);

// Tries `check` on every query of every unit; `requested` selects them, null: all.
Judgement glance_at_all(const History& history,
                        const Contract& contract,
                        CheckGlance check,
                        bool (*requested)(const Glance& glance) = nullptr);

// As a law: `check` on every query.
template <CheckGlance check>
Judgement per_glance(const History& history, const Contract& contract) {
  return glance_at_all(history, contract, check);
}

// Attention is computed at the distances that the contract's mode declares.
std::optional<Difference> check_distances(const Glance& glance, bool& tested);

// A query is rotated for the same position as its own key.
std::optional<Difference> check_own_key(const Glance& glance, bool& tested);

// Later tokens have later positions.
std::optional<Difference> check_order(const Glance& glance, bool& tested);

// Positions are within what the mode allows.
std::optional<Difference> check_bounds(const Glance& glance, bool& tested);

// The largest legal error of a key, |key - exact| / |key|, rotated `rotations` times since it was
// fed. Source: the drift of repeated rotation, measured for each storage type.
double most_key_error(const Contract& contract, const Row& row, std::size_t rotations);

inline constexpr double position_slack = 0.25;  // positions read back from low precision are off

}  // namespace kv::properties
