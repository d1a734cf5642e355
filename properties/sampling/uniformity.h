// One spec, one size, many streams: is what its middle holds a uniform sample?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/sampling/exact.h"
#include "kvcheck/properties/statistics/counts.h"
#include "kvcheck/properties/verdict.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

struct UniformityOptions {
  std::uint32_t tokens = 0;
  std::uint64_t trials = 0;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;

  // Called with the share done, from any thread, one at a time or not; false stops. May be null.
  std::function<bool(double share)> more{};
};

struct UniformityResult {
  Counts counts;
  std::uint32_t tokens = 0;
  std::uint64_t seed = 1;
  std::uint64_t decisions = 0;  // of the trials at the given size
  std::vector<Statistic> statistics;
  bool uniform = true;
  std::string sentence{};

  // When it is not uniform: the smallest step of the ladder that shows it, and, where its draws can
  // be enumerated, the exact law there.
  std::string smallest{};
  std::vector<Statistic> ladder{};
  std::string witness{};

  // Half the width of the simultaneous 95 % band around k/n.
  double band = 0;
};

// Two stages on fresh data with a family error of 1e-9. Errors: nothing is sampled, nothing is
// evicted, or stopped.
Result<UniformityResult> measure_uniformity(const Spec& spec, const UniformityOptions& options);

// The same tests of any subject, at its requested sizes, in one unit where it can be made so. Runs
// in one thread, and looks for no smaller size that shows a deviation. Requires a family whose
// subjects are no danger to this process. Errors also: sizes are refused, or the subject failed.
Result<UniformityResult> measure_uniformity(Family& family, const UniformityOptions& options);

}  // namespace kv::properties
