#include "kvcheck/properties/laws/judging/position_checks.h"

#include <algorithm>
#include <cmath>

namespace kv::properties {
namespace {

bool off(double a, double b) {
  return std::abs(a - b) > position_slack;
}

// Where a token stands once the branch's shifts are counted in. After a shift some caches number
// new tokens from where the shifted rows end, others from where the stream is: `follows` is the
// first.
double standing(const Glance& glance, Token token, bool follows) {
  double at = token.position;
  if (token.position < static_cast<std::int32_t>(glance.history.what.setup.sinks)) return at;
  for (const DoneShift& shift : glance.line.shifts) {
    const bool there = static_cast<std::size_t>(token.position) < shift.fed;
    if (there || follows) at += static_cast<double>(shift.delta);
  }
  return at;
}

// A shift that moves rows onto the sinks, or below 0, leaves no distance that would be right.
bool shifted_too_far(const Glance& glance) {
  if (glance.line.shifts.empty()) return false;
  const auto sinks = static_cast<double>(glance.history.what.setup.sinks);
  for (std::size_t i = 0; i < glance.rows.size(); ++i) {
    const Token token = glance.token(i);
    if (token.position >= static_cast<std::int32_t>(sinks) &&
        std::min(standing(glance, token, false), standing(glance, token, true)) < sinks) {
      return true;
    }
  }
  return false;
}

// The first visible row that does not stand at its distance from the query, or from the first
// visible row where the query's position is not reported.
std::optional<Difference> wrong_distance(const Glance& glance, bool follows, bool& tested) {
  const bool asked = !std::isnan(glance.asked_at());
  const double from = asked ? glance.asked_at() : glance.key(0);
  const double stands = standing(glance, asked ? glance.asking() : glance.token(0), follows);
  for (std::size_t i = asked ? 0 : 1; i < glance.rows.size(); ++i) {
    if (std::isnan(glance.key(i))) continue;
    tested = true;
    const double expected = stands - standing(glance, glance.token(i), follows);
    if (!off(from - glance.key(i), expected)) continue;
    return Difference{phrase(asked ? "query " : "token ", asked ? glance.asking() : glance.token(0),
                             " is ", expected, " away from token ", glance.token(i)),
                      phrase("it is ", from - glance.key(i), " away: at position ", from,
                             ", and the key at ", glance.key(i)),
                      glance.query};
  }
  return std::nullopt;
}

// Both readings of a shift are legal, so only what is wrong under both is a finding.
std::optional<Difference> absolute_distances(const Glance& glance, bool& tested) {
  if (shifted_too_far(glance)) return std::nullopt;
  auto found = wrong_distance(glance, false, tested);
  if (!found || glance.line.shifts.empty()) return found;
  return wrong_distance(glance, true, tested) ? found : std::nullopt;
}

// In-cache positions are ranks among the visible rows, the query being the last of them. Where the
// query's position is not reported, the first visible key is the origin.
std::optional<Difference> ranked_distances(const Glance& glance, bool& tested) {
  const bool asked =
      !std::isnan(glance.asked_at()) && glance.token(glance.rows.size() - 1) == glance.asking();
  const double last = static_cast<double>(glance.rows.size()) - 1;
  const double from = asked ? glance.asked_at() : glance.key(0);
  const double stands = asked ? last : 0;
  for (std::size_t i = asked ? 0 : 1; i < glance.rows.size(); ++i) {
    if (std::isnan(glance.key(i))) continue;
    tested = true;
    const double expected = stands - static_cast<double>(i);
    if (!off(from - glance.key(i), expected)) continue;
    return Difference{
        phrase("token ", glance.token(i), " has rank ", i, " of the ", glance.rows.size(),
               " rows that query ", glance.asking(), " sees: distance ",
               last - static_cast<double>(i)),
        phrase("the query is at position ", glance.asked_at(), ", the key at ", glance.key(i)),
        glance.query};
  }
  return std::nullopt;
}

// Rows returned between two tokens that this query may not see: not yet trimmed, or the gap.
std::size_t hidden_between(const Glance& glance, Token a, Token b) {
  const auto seen = [&](std::size_t row) { return std::ranges::count(glance.rows, row) != 0; };
  std::size_t hidden = 0;
  for (std::size_t row = 0; row < glance.unit.returned.size(); ++row) {
    const Token token = glance.unit.returned[row].key;
    if (a < token && token < b && !seen(row)) ++hidden;
  }
  return hidden;
}

// Rows that are hidden but not yet freed may still hold their positions, so gaps may be as wide as
// there are such rows.
std::optional<Difference> closed_gaps(const Glance& glance, bool& tested) {
  // A shift that is asked for opens gaps, or closes them, as its caller wants.
  if (!glance.line.shifts.empty()) return std::nullopt;
  for (std::size_t i = 1; i < glance.rows.size(); ++i) {
    const double gap = glance.key(i) - glance.key(i - 1);
    if (std::isnan(gap)) continue;
    tested = true;
    const Token before = glance.token(i - 1);
    const auto most = static_cast<double>(1 + hidden_between(glance, before, glance.token(i)));
    if (gap > 1 - position_slack && gap < most + position_slack) continue;
    const std::string reach =
        most > 1 ? phrase("at most ", most, " positions on") : "one position on: the gap is closed";
    return Difference{phrase("token ", glance.token(i), " follows token ", before, " ", reach),
                      phrase("they are at positions ", glance.key(i - 1), " and ", glance.key(i)),
                      glance.query};
  }
  return std::nullopt;
}

}  // namespace

Judgement glance_at_all(const History& history,
                        const Contract& contract,
                        CheckGlance check,
                        bool (*requested)(const Glance& glance)) {
  const auto check_queries = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    if (!is_feed(history, at.event) || !has_mask(at.facts, at.event.fed.size())) return {};
    Glance glance{history, contract, at.event, at.line, at.facts};
    if (requested != nullptr && !requested(glance)) return {};
    for (; glance.query < at.event.fed.size(); ++glance.query) {
      glance.rows = seen_by(at.facts, glance.query);
      if (glance.rows.empty()) continue;  // it has no distance; visible.none-empty judges it
      if (auto found = check(glance, tested)) return found;
    }
    return {};
  };
  return check_units(history, {"no position was reported", true}, check_queries);
}

std::optional<Difference> check_distances(const Glance& glance, bool& tested) {
  switch (glance.contract.positions) {
    case PositionMode::absolute:
      return absolute_distances(glance, tested);
    case PositionMode::in_cache:
      return ranked_distances(glance, tested);
    case PositionMode::shifted:
      return closed_gaps(glance, tested);
    case PositionMode::unreported:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Difference> check_own_key(const Glance& glance, bool& tested) {
  for (std::size_t i = 0; i < glance.rows.size(); ++i) {
    if (glance.token(i) != glance.asking()) continue;
    if (std::isnan(glance.key(i)) || std::isnan(glance.asked_at())) continue;
    tested = true;
    if (!off(glance.key(i), glance.asked_at())) continue;
    return Difference{
        phrase("query ", glance.asking(), " and its own key are rotated for one position"),
        phrase("the query is at position ", glance.asked_at(), ", its key at ", glance.key(i)),
        glance.query};
  }
  return std::nullopt;
}

std::optional<Difference> check_order(const Glance& glance, bool& tested) {
  // A shift may move rows onto others, and then no order would be right.
  if (!glance.line.shifts.empty()) return std::nullopt;
  for (std::size_t i = 1; i < glance.rows.size(); ++i) {
    const double before = glance.key(i - 1);
    const double after = glance.key(i);
    // Twins are the business of rows.unique.
    if (std::isnan(before) || std::isnan(after) || glance.token(i - 1) == glance.token(i)) continue;
    tested = true;
    if (after > before + position_slack) continue;
    return Difference{phrase("token ", glance.token(i), " is at a later position than token ",
                             glance.token(i - 1)),
                      phrase("they are at positions ", after, " and ", before), glance.query};
  }
  return std::nullopt;
}

std::optional<Difference> check_bounds(const Glance& glance, bool& tested) {
  // A shift may move rows below 0, or further than the stream is long.
  if (!glance.line.shifts.empty()) return std::nullopt;
  const bool absolute = glance.contract.positions == PositionMode::absolute;
  const bool ranked = glance.contract.positions == PositionMode::in_cache;
  const std::size_t end = absolute ? glance.event.branch.size()
                          : ranked ? glance.rows.size()
                                   : glance.unit.returned.size();
  const std::string what = absolute ? " tokens were fed"
                           : ranked ? " rows are visible"
                                    : " rows were returned";
  const auto check = [&](double at, const std::string& label) -> std::optional<Difference> {
    if (std::isnan(at)) return std::nullopt;
    tested = true;
    if (at > -position_slack && at < static_cast<double>(end) - 1 + position_slack) {
      return std::nullopt;
    }
    return Difference{phrase(label, " is at a position from 0 to ", end - 1, ": ", end, what),
                      phrase("it is at position ", at), glance.query};
  };
  if (auto found = check(glance.asked_at(), phrase("query ", glance.asking()))) return found;
  for (std::size_t i = 0; i < glance.rows.size(); ++i) {
    if (auto found = check(glance.key(i), phrase("token ", glance.token(i)))) return found;
  }
  return std::nullopt;
}

// f32 grows with the position because its angle is rounded before the sine is taken. Codes dominate
// every rotation, so tiers add nothing per rotation but for the rows still in full precision.
double most_key_error(const Contract& contract, const Row& row, std::size_t rotations) {
  const auto n = static_cast<double>(rotations);
  const auto at = static_cast<double>(std::max(0, row.key.position));
  switch (contract.precision) {
    case Precision::f32:
      return 1e-5 + 1e-7 * at + 5e-8 * n;
    case Precision::f16:
      return 1e-3 + 1.5e-4 * n;
    case Precision::bf16:
      return 8e-3 + 1e-3 * n;
    case Precision::int8:
      return row.full_precision ? 1e-3 + 1.5e-4 * n : 0.03;
    case Precision::int4:
      return row.full_precision ? 1e-3 + 1.5e-4 * n : 0.4;
  }
  return 0;
}

}  // namespace kv::properties
