#include "kvcheck/properties/laws/judging/walk.h"

#include <algorithm>
#include <utility>

namespace kv::properties {
namespace {

void reorder(Lineage& line, const std::vector<std::uint32_t>& from) {
  const std::vector<std::vector<std::uint32_t>> old = line.origins;
  for (std::size_t i = 0; i < line.origins.size() && i < from.size(); ++i) {
    // A subject may do a reorder that it should have refused.
    if (from[i] < old.size()) line.origins[i] = old[from[i]];
  }
}

void cut(Lineage& line, std::size_t length) {
  for (auto& origins : line.origins) {
    if (origins.size() > length) {
      origins.resize(length);
      line.rolled_back = true;
    }
  }
  std::erase_if(line.begins, [length](std::size_t begin) { return begin >= length; });
  // A shift still counts for the tokens that it moved and that are left.
  for (DoneShift& shift : line.shifts) shift.fed = std::min(shift.fed, length);
}

void follow(Lineage& line, const Event& event, std::uint32_t budget) {
  if (event.refused) return;
  switch (event.call.kind) {
    case Call::Kind::feed:
      for (std::size_t i = 0; i < line.origins.size(); ++i) {
        line.origins[i].resize(event.branch.size(), static_cast<std::uint32_t>(i));
      }
      if (!event.fed.empty()) line.begins.push_back(event.branch.size() - event.fed.size());
      line.was_full |= event.branch.size() > budget;
      break;
    case Call::Kind::truncate:
      cut(line, event.branch.size());
      break;
    case Call::Kind::reset:
      // Nothing that was taken back matters to what follows a reset.
      cut(line, 0);
      line.shifts.clear();
      line.rolled_back = line.was_full = false;
      line.begun_anew = true;
      break;
    case Call::Kind::reorder:
      reorder(line, event.call.from);
      break;
    case Call::Kind::shift:
      line.shifts.push_back({event.branch.size(), -event.call.amount});
      break;
    case Call::Kind::fork:
    case Call::Kind::snapshot:
      break;
  }
}

}  // namespace

void walk(const History& history, const Visit& visit) {
  std::vector<Lineage> lines(1);
  lines[0].origins.resize(history.what.setup.sequences);
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    const Event& event = history.events[i];
    if (event.call.branch >= lines.size()) continue;  // its fork was refused
    follow(lines[event.call.branch], event, history.contract.budget);
    visit(event, i, lines[event.call.branch]);
    lines[event.call.branch].before = &event;
    if (event.call.kind == Call::Kind::fork && !event.refused) {
      Lineage copy = lines[event.call.branch];
      lines.push_back(std::move(copy));
    }
  }
}

Judgement check_units(const History& history, NotTested untested, const CheckUnit& check) {
  std::optional<Finding> finding;
  bool tested = false;
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    const auto& units = event.facts.units;
    // Facts of another shape are the finding of survives.
    if (units.size() != history.units()) return;
    for (std::size_t unit = 0; unit < units.size() && !finding; ++unit) {
      const auto found = check({event, index, line, units[unit], unit}, tested);
      if (found) finding = finding_at(*found, index, unit);
    }
  });
  if (finding) return *std::move(finding);
  return unless_silent({}, tested, std::move(untested));
}

Judgement check_rows(const History& history, NotTested untested, const CheckRow& check) {
  const auto check_all = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    for (const auto* const rows : {&at.facts.returned, &at.facts.stored}) {
      for (const Row& row : *rows) {
        if (auto found = check({at, row, rows == &at.facts.stored}, tested)) return found;
      }
    }
    return std::nullopt;
  };
  return check_units(history, std::move(untested), check_all);
}

}  // namespace kv::properties
