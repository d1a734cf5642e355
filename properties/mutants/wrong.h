// What every mutant is made from: a plain cache with one step wrong.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/properties/mutants.h"
#include "kvcheck/properties/plain/plain_family.h"

namespace kv::properties {

// Derived classes override a step, and say under which options and declarations they are tried.
// They name no reference unless they say so: laws must find them by what they do.
class Wrong : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

  static PlainOptions options() { return {}; }

  static void declare(Contract& contract) { contract.reference.clear(); }

 protected:
  [[nodiscard]] std::uint64_t chunk_begin() const { return state_.fed - chunk_; }

  [[nodiscard]] bool is_sink(const PlainRow& row) const {
    return row.token.position < static_cast<std::int32_t>(contract_.sinks);
  }

  [[nodiscard]] std::size_t layer_of(const PlainGroup& group) const {
    return place_of(first_unit(group)).layer;
  }

  // Drops the rows that `drops` names, and closes the gaps.
  template <typename Drops>
  void drop(PlainGroup& group, Drops drops) {
    std::erase_if(group.rows, drops);
    close_gaps(group);
  }
};

template <typename Made>
inline std::string_view mutant_name;

template <typename Made>
Mutant mutant(std::string_view name,
              std::string_view wrong,
              std::string_view source,
              std::string_view equivalent = "") {
  mutant_name<Made> = name;
  return {name, wrong, source, equivalent, []() -> std::unique_ptr<Family> {
            return std::make_unique<PlainFamily<Made>>(std::string(mutant_name<Made>),
                                                       Made::options(), &Made::declare);
          }};
}

std::vector<Mutant> size_mutants();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> window_mutants();
std::vector<Mutant> position_mutants();
std::vector<Mutant> shift_mutants();
std::vector<Mutant> shift_call_mutants();
std::vector<Mutant> payload_mutants();
std::vector<Mutant> code_mutants();
std::vector<Mutant> ring_mutants();
std::vector<Mutant> rollback_mutants();
std::vector<Mutant> fork_mutants();
std::vector<Mutant> page_mutants();
std::vector<Mutant> score_mutants();
std::vector<Mutant> scores_apart_mutants();
std::vector<Mutant> chance_mutants();
std::vector<Mutant> skip_mutants();
std::vector<Mutant> layer_mutants();
std::vector<Mutant> length_mutants();
std::vector<Mutant> bookkeeping_mutants();
std::vector<Mutant> promise_mutants();
std::vector<Mutant> rare_mutants();
std::vector<Mutant> sharing_mutants();

}  // namespace kv::properties
