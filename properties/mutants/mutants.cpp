#include "kvcheck/properties/mutants/mutants.h"

#include <array>
#include <iterator>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {
std::vector<Mutant> all_mutants() {
  using Group = std::vector<Mutant> (*)();
  constexpr auto groups = std::to_array<Group>(
      {size_mutants,     mask_mutants,   window_mutants, position_mutants,    shift_mutants,
       payload_mutants,  code_mutants,   ring_mutants,   rollback_mutants,    fork_mutants,
       page_mutants,     choice_mutants, score_mutants,  chance_mutants,      skip_mutants,
       layer_mutants,    length_mutants, rare_mutants,   promise_mutants,     sharing_mutants,
       declared_mutants, place_mutants,  prompt_mutants, compression_mutants, borrowing_mutants});
  std::vector<Mutant> all;
  for (const Group group : groups) std::ranges::move(group(), std::back_inserter(all));
  return all;
}

}  // namespace

std::span<const Mutant> mutants() {
  static const std::vector<Mutant> all = all_mutants();
  return all;
}

}  // namespace kv::properties
