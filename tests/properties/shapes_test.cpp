#include "kvcheck/properties/cases/shapes.h"

#include <set>

#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// Whether some shape has both numbers; docs/laws.md publishes that all pairs have one.
template <typename Field>
bool stand_together(Field a, std::uint32_t many_a, Field b, std::uint32_t many_b) {
  return std::ranges::any_of(covering_shapes(), [&](const SetupShape& shape) {
    return shape.*a == many_a && shape.*b == many_b;
  });
}

TEST(Shapes, EveryPairOfEdgesStandsTogether) {
  for (const std::uint32_t layers : {6U, 9U, 13U}) {
    for (const std::uint32_t heads : {5U, 9U, 16U}) {
      if (layers * heads > most_units) continue;
      EXPECT_TRUE(stand_together(&SetupShape::layers, layers, &SetupShape::kv_heads, heads))
          << layers << " " << heads;
    }
    for (const std::uint32_t sequences : {5U, 9U}) {
      EXPECT_TRUE(stand_together(&SetupShape::layers, layers, &SetupShape::sequences, sequences))
          << layers << " " << sequences;
    }
  }
  for (const std::uint32_t heads : {5U, 9U, 16U}) {
    for (const std::uint32_t sequences : {5U, 9U}) {
      EXPECT_TRUE(stand_together(&SetupShape::kv_heads, heads, &SetupShape::sequences, sequences))
          << heads << " " << sequences;
    }
  }
  for (const std::uint32_t group : {5U, 8U}) {
    const auto beside = [group](std::uint32_t SetupShape::*field) {
      return stand_together(&SetupShape::group, group, field, 6U) ||
             stand_together(&SetupShape::group, group, field, 5U) ||
             stand_together(&SetupShape::group, group, field, 9U);
    };
    EXPECT_TRUE(beside(&SetupShape::layers)) << group;
    EXPECT_TRUE(beside(&SetupShape::sequences)) << group;
  }
}

TEST(Shapes, AreOfFewEnoughUnits) {
  for (const SetupShape& shape : covering_shapes()) {
    EXPECT_LE(shape.units(), most_units);
    EXPECT_LE(shape.kv_heads * shape.group, 16U);
  }
}

// The cases that a law is tried on at the quick level.
std::set<std::vector<std::uint32_t>> tried(std::uint64_t seed, std::string_view law) {
  const auto family = make_spec_family(*parse_spec("h2o:sinks=1,recent=2,budget=5"));
  BatteryOptions options;
  options.effort.seed = seed;
  const Campaign campaign(*family, options, {find_law(law)});
  const std::uint64_t of = law == "size.stored" ? Board::pool : 0;
  const CaseCounts counts = case_counts(Level::quick, 0);
  std::set<std::vector<std::uint32_t>> shapes;
  for (std::uint64_t i = 0; i < (of == 0 ? counts.relation : counts.pool); ++i) {
    const kv::properties::Setup setup = campaign.case_of(of, i).value().setup;
    shapes.insert({setup.layers, setup.kv_heads, setup.group, setup.sequences});
  }
  return shapes;
}

TEST(Shapes, AllAreTriedByEveryBatteryWhateverItsSeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto shapes = tried(seed, "size.stored");
    for (const SetupShape& shape : covering_shapes()) {
      EXPECT_TRUE(shapes.contains({shape.layers, shape.kv_heads, shape.group, shape.sequences}))
          << "seed " << seed << ": " << shape.layers << " " << shape.kv_heads << " " << shape.group
          << " " << shape.sequences;
    }
  }
}

// A law that compares runs has fewer cases: each kind that it wants is beyond its first edge.
TEST(Shapes, ALawOfItsOwnCasesMeetsManyOfWhatItWants) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::uint32_t heads = 0;
    std::uint32_t layers = 0;
    std::uint32_t sequences = 0;
    for (const auto& shape : tried(seed, "isolation.heads")) heads = std::max(heads, shape[1]);
    for (const auto& shape : tried(seed, "isolation.layers")) layers = std::max(layers, shape[0]);
    for (const auto& shape : tried(seed, "isolation.sequences")) {
      sequences = std::max(sequences, shape[3]);
    }
    EXPECT_GE(heads, 9U) << seed;
    EXPECT_GE(layers, 9U) << seed;
    EXPECT_GE(sequences, 9U) << seed;
  }
}

}  // namespace
}  // namespace kv::properties
