// The executable specification run on positions alone: what each policy should keep and show.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/properties/reference/cache_steps.h"

namespace kv::properties {

// The attention that query `query` pays: [visible], in stream order.
using MassOf =
    std::function<std::vector<float>(const std::vector<Position>& visible, Position query)>;

// The inputs of the token at a position.
using InputsOf = std::function<TokenInputs(Position)>;

// One unit's cache, or those of all units that share a budget, as the spec says they should behave.
// Copies are independent but share their draws.
class ReferenceCache final : private CacheSteps {
 public:
  // Requires rule_of(spec). One unit for each of the draws.
  ReferenceCache(const Spec& spec, std::vector<std::shared_ptr<Draws>> draws);

  ReferenceCache(const Spec& spec, std::shared_ptr<Draws> draws)
      : ReferenceCache(spec, std::vector{std::move(draws)}) {}

  ReferenceCache(const ReferenceCache& other);
  ReferenceCache(ReferenceCache&&) = default;
  ReferenceCache& operator=(ReferenceCache&&) = default;
  ReferenceCache& operator=(const ReferenceCache&) = delete;
  ~ReferenceCache() override = default;

  // A copy that draws from elsewhere.
  [[nodiscard]] ReferenceCache with(std::vector<std::shared_ptr<Draws>> draws) const;

  using Visible = std::vector<std::vector<Position>>;  // what each query sees, in stream order

  // Takes a chunk in; returns what its queries see, by unit. The functions, one per unit, are
  // called only for policies that request them, `inputs` also where queries select.
  std::vector<Visible> feed(std::size_t tokens,
                            std::span<const MassOf> mass,
                            std::span<const InputsOf> inputs);

  // The same for a cache of one unit.
  Visible feed(std::size_t tokens, const MassOf& mass, const InputsOf& inputs) {
    return std::move(feed(tokens, {&mass, 1}, {&inputs, 1}).front());
  }

  // What is stored now, in stream order.
  [[nodiscard]] std::vector<Position> stored(std::size_t unit = 0, bool evicted_too = true) const;

  // Those of them that a later query may see, in stream order.
  [[nodiscard]] std::vector<Position> residents(std::size_t unit = 0) const {
    return stored(unit, false);
  }

  // Rows that freeing others has moved so far, were they stored without gaps.
  [[nodiscard]] std::uint64_t moved(std::size_t unit = 0) const { return units_[unit].moved; }

  // Whether a decision so far hung on a difference that rounding may reverse.
  [[nodiscard]] bool doubtful() const;

 private:
  Rule& rule_for(const CacheUnit& unit) override { return *rules_[index_of(unit)]; }

  Draws& draws_for(const CacheUnit& unit) override { return *draws_[index_of(unit)]; }

  TokenInputs inputs_of(const CacheUnit& unit, Token token) override;
  void attend(CacheUnit& unit, std::span<const Token> chunk, std::size_t query) override;

  [[nodiscard]] std::size_t index_of(const CacheUnit& unit) const {
    return static_cast<std::size_t>(&unit - units_.data());
  }

  std::vector<CacheUnit> units_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::vector<std::shared_ptr<Draws>> draws_;

  // Of the call under way.
  std::span<const MassOf> mass_;
  std::span<const InputsOf> inputs_;
  std::vector<Visible> visible_;
};

}  // namespace kv::properties
