// Verdicts: what the battery says of a subject.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kv::properties {

// How hard to try.
enum class Level { quick, full, nightly };

struct Effort {
  Level level = Level::quick;
  std::uint64_t seed = 1;

  // Seconds that are left for it; null: it may take as long as it takes. A measurement that will
  // not be done by then takes fewer streams, and says what it could have seen in them.
  std::function<double()> seconds_left{};
};

// One test of hypothesis within a statistical law.
struct Statistic {
  std::string name{};   // "T1"
  std::string what{};   // "inclusion of each token against k/n"
  std::string where{};  // "n=16 k=4, 20000 streams"
  double value = 0;
  double freedom = 0;     // degrees; 0: none (an exact test or a normal deviate)
  double p = 1;           // or, of an e-process, min(1, 1/e)
  double level = 0;       // p below this rejects
  std::string effect{};   // the largest deviation with its simultaneous interval, in words
  double effect_low = 0;  // the interval, in the unit that `effect` names
  double effect_high = 0;
  double detectable = 0;  // the smallest effect that this run would have seen with power 0.99
  bool rejected = false;
};

struct StatisticalVerdict {
  bool ran = false;
  std::string why_not;  // it did not run
  bool cannot = false;  // nor could it on any such subject
  bool broken = false;
  std::string sentence;  // "inclusion falls geometrically with age: (4/5)^age; test T1: p = 4e-9"
  std::vector<Statistic> statistics;
  std::string smallest;  // the smallest rejecting step of the ladder, for --reproduce
};

}  // namespace kv::properties
