// A policy that breaks its interface, as a user's policy may.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {

// Names the same victims and returns the same number of scores for all candidates.
class FixedVictims final : public Policy {
 public:
  explicit FixedVictims(std::vector<std::size_t> victims) : victims_(std::move(victims)) {}

  void evict(const Candidates& /*candidates*/,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    victims = victims_;
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  [[nodiscard]] std::span<const double> scores(const PooledCandidates& /*candidates*/) override {
    return scores_;
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<FixedVictims>(*this);
  }

 private:
  std::vector<std::size_t> victims_;
  std::vector<double> scores_ = {1, 2};
};

// A spec with a middle of 3, a recent window of 1 and a policy called "fixed" with these victims.
template <std::size_t... victims>
Spec fixed_victims(const std::string& settings = "") {
  static const PolicyEntry entry = [] {
    PolicyEntry fixed = *find_policy("fifo");
    fixed.name = "fixed";
    fixed.make = [](const Options&) -> std::unique_ptr<Policy> {
      return std::make_unique<FixedVictims>(std::vector<std::size_t>{victims...});
    };
    return fixed;
  }();
  Spec spec = parse_spec("fifo:sinks=0,recent=1,budget=4" + settings).value();
  spec.policy = &entry;
  return spec;
}

}  // namespace kv
