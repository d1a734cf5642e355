// What codes may lose: half a step of their own scale.
#include <algorithm>
#include <cmath>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/walk.h"
#include "kvcheck/properties/laws/relations/row_relations.h"

namespace kv::properties {
namespace {

// Codes times steps are rounded to f32, and so may a step be.
constexpr double most_steps_off = 0.501;

std::optional<std::string> unless_codes(const Contract& contract) {
  if (has_tiers(contract.precision)) return std::nullopt;
  return "no codes are declared (precision=int8 or int4)";
}

std::optional<Difference> too_far(const Row& row) {
  const double most = row.full_precision ? 0 : most_steps_off;
  if (std::isnan(row.steps_off) || row.steps_off <= most) return std::nullopt;
  const std::string token = "token " + kv::properties::to_text(row.value);
  if (row.full_precision) {
    return Difference{token + " is in full precision: its numbers are those that were fed",
                      "one is another", 0};
  }
  return Difference{"the numbers of " + token + " are off by at most half a step of their scale",
                    "one is off by " + to_text(row.steps_off) + " steps", 0};
}

Judgement half_step(const History& history, const Contract& contract) {
  if (contract.positions == PositionMode::shifted) {
    return NotTested{"keys are rotated again: position.norm judges them", true};
  }
  Verdicts verdicts({"the subject does not tell how many steps its numbers are off", true});
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    if (verdicts.found() || !line.shifts.empty()) return;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      const UnitFacts& facts = event.facts.units[unit];
      for (const auto* const rows : {&facts.returned, &facts.stored}) {
        for (const Row& row : *rows) {
          if (!std::isnan(row.steps_off)) verdicts.tested();
          if (const auto found = too_far(row)) verdicts.accuse(finding_at(*found, index, unit));
        }
      }
    }
  });
  return verdicts.judgement();
}

}  // namespace

Law half_step_law() {
  return {.id = "row.half-step",
          .sentence =
              "A quantised number is off by at most half a step, one in full precision by "
              "nothing.",
          .why =
              "A code is the nearest of a few levels, so what it loses is known: half a step of "
              "the scale that its group is stored with. More means codes that are cut off "
              "instead of rounded, the scale of another group or another token, numbers that "
              "are quantised again whenever others come, or a scale that was rounded down. "
              "Rows that are declared to be exact lose nothing at all.",
          .seen_in = "llama.cpp #9743; transformers #48700; KIVI (arXiv:2402.02750), section 3",
          .must_see = {.eviction = false},
          .not_applicable = unless_codes,
          .check = half_step};
}

}  // namespace kv::properties
