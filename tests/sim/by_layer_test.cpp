// A policy that decides by its layer receives it wherever a unit's cache is made from its own spec.
#include <memory>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

// Drops the candidate of its layer's number.
class Numbered final : public Policy {
 public:
  void set_layer(const LayerOf& layer) override { layer_ = layer; }

  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    EXPECT_LT(layer_.index, candidates.positions.size());
    EXPECT_EQ(layer_.layers, 3U);
    victims.push_back(layer_.index);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Numbered>(*this);
  }

 private:
  LayerOf layer_;
};

std::unique_ptr<CounterDraws> draws() {
  return std::make_unique<CounterDraws>(Rng(1));
}

void feed(UnitCache& cache, int tokens) {
  for (int token = 0; token < tokens; ++token) {
    cache.begin_chunk(1);
    cache.next_query();
    cache.end_chunk();
  }
}

std::vector<Position> middle_of(const UnitCache& cache) {
  const auto middle = cache.all().middle;
  return {middle.begin(), middle.end()};
}

class InLayers : public testing::Test {
 protected:
  InLayers() {
    entry_.name = "numbered";
    entry_.make = [](const Options&) -> std::unique_ptr<Policy> {
      return std::make_unique<Numbered>();
    };
  }

  [[nodiscard]] UnitCache cache_in(std::uint32_t layer) const {
    Spec spec = parse_spec("fifo:sinks=0,recent=1,budget=4").value();
    spec.policy = &entry_;
    return {unit_spec(spec, {.layers = 3}, {layer, 0}), draws()};
  }

 private:
  PolicyEntry entry_ = *find_policy("fifo");
};

TEST_F(InLayers, EachDecidesByItsOwn) {
  for (const std::uint32_t layer : {0U, 1U, 2U}) {
    UnitCache cache = cache_in(layer);
    feed(cache, 5);
    std::vector<Position> left = {0, 1, 2, 3};
    left.erase(left.begin() + layer);
    EXPECT_EQ(middle_of(cache), left);
  }
}

TEST_F(InLayers, CopiesAreInTheSame) {
  UnitCache cache = cache_in(2);
  feed(cache, 4);
  UnitCache copy = cache.fork(draws());
  feed(cache, 3);
  feed(copy, 3);
  EXPECT_EQ(middle_of(copy), middle_of(cache));
  EXPECT_EQ(middle_of(copy), (std::vector<Position>{0, 1, 5}));
}

TEST(InLayersOfSpecs, AWholeModelIsOneLayerOfOne) {
  const Spec spec = parse_spec("h2o:budget=8;unit=layer").value();
  EXPECT_EQ(spec.layer, LayerOf{});
  EXPECT_EQ(unit_spec(spec, {.layers = 3}, {2, 0}).layer, (LayerOf{2, 3}));
  EXPECT_EQ(unit_spec(parse_spec("h2o:budget=8;unit=model").value(), {.layers = 3}, {}).layer,
            LayerOf{});
}

}  // namespace
}  // namespace kv
