// What is declared or answered, and not done.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct SharesInNameOnly final : ScoredWrong {
  static void declare(Contract& contract) {
    Wrong::declare(contract);
    contract.unit = Unit::layer;
  }
};

struct RefusesHalfway final : Wrong {
  Answer<Done> truncate(std::int64_t length) override {
    Answer<Done> answer = Wrong::truncate(length);
    if (!std::holds_alternative<Refused>(answer)) return answer;
    for (CacheUnit& unit : state_.units) {
      if (!unit.rows.empty()) unit.rows.pop_back();
    }
    return answer;
  }
};

// A sequence that does not exist is taken for the last one.
struct ReorderClamps final : Wrong {
  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    std::vector<std::uint32_t> known(from.begin(), from.end());
    for (std::uint32_t& sequence : known) sequence = std::min(sequence, setup_.sequences - 1);
    return Wrong::reorder(known);
  }
};

}  // namespace

std::vector<Mutant> promise_mutants() {
  return {
      {"shares-in-name-only", "heads declare to share residents, and each decides alone", "made",
       of<SharesInNameOnly>},
      {"refuses-halfway", "a rollback takes a row away and is then refused", "made",
       of<RefusesHalfway>},
      {"reorder-clamps", "a sequence that does not exist is taken for the last one", "made",
       of<ReorderClamps>},
  };
}

}  // namespace kv::properties
