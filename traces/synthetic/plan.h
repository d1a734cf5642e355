// The plan of one unit: the part that each key belongs to, and the mass that each query gives to
// each part.
//
// Keys are partitioned into parts. Within a part, the weight of key j for query t is
//   sink        e^weight
//   planted     e^weight when the labels of query and key agree, else e^-24 per differing bit of it
//   background  e^(slope (j - t) + noise(t, j))
// and a query scales each part to the mass that it gives to it. traces/synthetic/rows.h makes rows,
// queries and keys from the plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv {

enum class Part : std::uint8_t { sink, planted, background };
inline constexpr std::size_t part_count = 3;

struct KeyPlan {
  Part part = Part::background;
  std::uint32_t label = 0;
  double weight = 0;  // a logarithm
};

struct QueryPlan {
  std::array<double, part_count> mass{0, 0, 1};  // by Part; 0 stands for silent_mass
  std::uint32_t label = 0;
};

struct UnitPlan {
  std::vector<KeyPlan> keys;       // [tokens]
  std::vector<QueryPlan> queries;  // [tokens]
  double slope = 0;                // of the background: 1 / decay, or 0
  double noise = 0;                // standard deviation
  unsigned label_bits = 0;
  std::vector<Plant> plants;
};

// What a draw is for. This is the high half of a draw's index; the low half counts.
enum class Purpose : std::uint32_t { plan = 1, query = 2, key = 3, value = 4 };

// The generator of a layer's head. Its draws differ from those of a policy that runs with the same
// seed.
Rng synthetic_rng(const SyntheticSpec& spec, std::size_t layer, std::size_t head);

std::uint32_t draw_index(Purpose purpose, std::size_t count = 0);

// Draws `count` different positions of `from`, all equally likely, in random order. Requires count
// <= from.size().
std::vector<Position> draw_positions(const Rng& rng, Run from, std::size_t count);

// A plan of background keys only, with the `decay` and `noise` of the spec if it has them.
UnitPlan background_plan(const SyntheticSpec& spec);

// How many bits a label of the spec needs; the check of head_dim uses it.
unsigned label_bits(const SyntheticSpec& spec);

// The plans, one per generator.
UnitPlan plan_sink_recency(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_zipf(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_drift(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_needle(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_topics(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_uniform(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_one_hot(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
UnitPlan plan_ties(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);

}  // namespace kv
