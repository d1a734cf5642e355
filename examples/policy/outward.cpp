// A policy in a shared library. It evicts the token at the centre of the middle, so that the oldest
// and the newest tokens of the middle remain.
#include <array>

#include "kvcheck/policies/library.h"

namespace {

class Outward final : public kv::Policy {
 public:
  void evict(const kv::Candidates& candidates,
             kv::Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    victims.push_back(candidates.positions.size() / 2);
  }

  [[nodiscard]] std::unique_ptr<kv::Policy> clone() const override {
    return std::make_unique<Outward>(*this);
  }
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "deterministic"};

kv::PolicyEntry outward_policy() {
  return {.name = "outward",
          .summary = "Drops the token at the centre of the middle.",
          .protection = {.sinks = 4},
          .parameters = {},
          .claims = claims,
          .source = "an example; no paper",
          .differs = "nothing",
          .cost = "O(1) time a token; no state",
          .make = [](const kv::Options&) -> std::unique_ptr<kv::Policy> {
            return std::make_unique<Outward>();
          }};
}

}  // namespace

KVCHECK_POLICIES(outward_policy())
