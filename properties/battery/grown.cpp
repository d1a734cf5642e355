#include "kvcheck/properties/battery/grown.h"

#include <algorithm>

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/cases/child.h"

namespace kv::properties {
namespace {

// What the declaration makes of the subject's contract; nothing if it changes nothing.
std::optional<Contract> declared(const Contract& contract, std::string_view declaration) {
  for (Relaxation& relaxation : relaxations(contract)) {
    if (relaxation.declaration == declaration) return std::move(relaxation.contract);
  }
  return std::nullopt;
}

// The case, and `tokens` more on branch 0 in chunks of `chunk`.
Case grown(const Case& what, std::uint64_t tokens, std::uint32_t chunk) {
  Case result = what;
  for (std::uint64_t fed = 0; fed < tokens; fed += chunk) {
    result.calls.push_back({.kind = Call::Kind::feed, .amount = chunk});
  }
  return result;
}

bool holds(Family& family, const Case& what, std::string_view declaration) {
  const auto contract = family.contract(what.setup);
  if (!contract) return false;
  const auto relaxed = declared(*contract, declaration);
  if (!relaxed) return false;
  const std::uint64_t room = std::uint64_t{relaxed->budget} + relaxed->slack + relaxed->page;
  const std::uint32_t wide = std::max(2U, relaxed->budget + 1);
  const std::uint32_t longest = relaxed->longest_chunk == 0 ? wide : relaxed->longest_chunk;
  for (const std::uint32_t chunk : {1U, std::min(wide, longest)}) {
    const auto history = run_case(family, grown(what, 2 * room + 16, chunk));
    if (!history || !history->failure.empty() || !all_hold(*history, *relaxed)) return false;
  }
  return true;
}

}  // namespace

bool holds_when_grown(Family& family, const Case& what, std::string_view declaration) {
  if (!family.in_process()) return holds(family, what, declaration);
  const SharedMemory memory(sizeof(bool));
  auto* const answer = static_cast<bool*>(memory.data());
  constexpr double seconds = 20;
  const std::string death = run_in_child(
      [&] {
        stay_alive(seconds);
        *answer = holds(family, what, declaration);
      },
      {});
  return death.empty() && *answer;
}

}  // namespace kv::properties
