// The ladder of sizes that a family is measured on, and what a climb says of a claim.
//
// Off-by-ones show where n = k + 1 or a few more; what drifts shows on long streams.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/sampling/escalation.h"
#include "kvcheck/properties/sampling/family_sampler.h"

namespace kv::properties {

// One size, and how many streams a quick run spends on it.
struct Rung {
  Shape shape;
  std::uint64_t streams = 0;
};

// Streams at an effort: a full run takes 8 times as many as a quick one, a nightly run 64 times; a
// subject in another process, which is slow, half as many.
std::uint64_t streams_at(std::uint64_t quick, const Effort& effort, const Family& family);

// Where the streams of a measurement come from, and what is asked of them.
struct Ask {
  std::string_view law;  // its id: part of every seed
  std::span<const Rung> rungs;
  CountsRequested requested{};
  std::vector<std::uint32_t> chunks{};  // empty: token by token
  std::function<std::vector<ChanceTest>(const Counts& counts)> tests;

  // What else to say when a test rejects: the law that is followed instead. May be null.
  std::function<std::string(const Counts& counts)> diagnose;
};

// The setup of a rung: one sink and two recent tokens beside the middle, so that a policy which
// counts them by mistake shows.
Setup rung_setup(const Shape& shape);

// Climbs. A family of fixed size is measured at its own size alone; one that takes any size, at the
// requested size too. The verdict's sentence is in words; `smallest` names the smallest step that
// rejects, its streams and seed.
StatisticalVerdict climb(Family& family, const Effort& effort, const Ask& ask);

// The same for steps made by the caller. With effort.seconds_left, streams are as many as fit.
StatisticalVerdict climb_steps(std::vector<LadderStep> steps,
                               const Effort& effort,
                               std::string_view law,
                               const std::function<std::string()>& diagnose);

// "a deviation of 3.1 % would have been seen", from the finest of the statistics.
std::string finest(std::span<const Statistic> statistics);

// A family error of 1e-9 shared by the laws of chance.
inline constexpr double law_error = 1e-9 / 9;

}  // namespace kv::properties
