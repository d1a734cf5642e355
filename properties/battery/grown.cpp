#include "kvcheck/properties/battery/grown.h"

#include <algorithm>

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/child_time.h"

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

// One long call on an empty cache, and two tokens after it: what a prompt shows and chunks do not.
Case prompted(const Case& what, std::uint64_t tokens, const Contract& contract) {
  const std::uint32_t longest = contract.longest_after(0);
  const auto prompt = longest == 0 ? tokens : std::min<std::uint64_t>(tokens, longest);
  Case result{what.setup, what.stream, {}};
  for (const std::uint64_t amount : {prompt, std::uint64_t{1}, std::uint64_t{1}}) {
    result.calls.push_back({.kind = Call::Kind::feed, .amount = static_cast<std::int64_t>(amount)});
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
  const auto all_hold_of = [&](const Case& longer) {
    const auto history = run_case(family, longer);
    return history && history->failure.empty() && all_hold(*history, *relaxed);
  };
  for (const std::uint32_t chunk : {1U, std::min(wide, longest)}) {
    if (!all_hold_of(grown(what, 2 * room + 16, chunk))) return false;
  }
  return all_hold_of(prompted(what, 4 * room + 41, *relaxed)) &&
         all_hold_of(prompted(what, 8 * room + 97, *relaxed));
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
