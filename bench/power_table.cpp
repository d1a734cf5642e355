// The power table: how many streams each test needs to detect known faults of a reservoir, and how
// often the whole battery of tests rejects a correct one.
//
//   power_table [BATTERIES]
//
// Streams are computed from measured drift: a large run gives the non-centrality that one stream
// adds, and the needed number is the non-centrality at level 1e-6 and power 0.99 over that. A spot
// check then rejects at that number of streams. Small cases of chi-square (below some 15 streams)
// are rough.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/properties/sampling/sampler.h"
#include "kvcheck/properties/statistics/chance_tests.h"

namespace {

using namespace kv;
using namespace kv::properties;

constexpr Shape shape = {.n = 16, .k = 4};
constexpr double level = 1e-6;
constexpr std::uint64_t drift_streams = 400000;

// The middle by slot, as the algorithms keep it.
struct State {
  std::vector<std::uint32_t> slots;
};

// Returns the slot that the t-th token (from 1) takes; k means none.
using Step = std::function<std::uint32_t(const State&, Draws&, std::uint32_t t)>;
using MakeStep = std::function<Step()>;  // fresh for each stream

class SlotSampler final : public Sampler {
 public:
  explicit SlotSampler(MakeStep make) : make_(std::move(make)) {}

  [[nodiscard]] const Shape& shape() const override { return ::shape; }

  Result<void> sample(std::uint64_t seed, Replicate& out) override {
    CounterDraws draws{Rng(seed)};
    const Step step = make_();
    State state;
    state.slots.resize(::shape.k);
    std::iota(state.slots.begin(), state.slots.end(), 0U);
    out.gone.clear();
    for (std::uint32_t t = ::shape.k + 1; t <= ::shape.n; ++t) {
      const std::uint32_t slot = step(state, draws, t);
      if (slot >= ::shape.k) {
        out.gone.push_back(::shape.k);
        continue;
      }
      const std::uint32_t victim = state.slots[slot];
      std::uint32_t rank = 0;
      for (const std::uint32_t token : state.slots) rank += token < victim ? 1 : 0;
      out.gone.push_back(rank);
      state.slots[slot] = t - 1;
    }
    out.kept = state.slots;
    std::ranges::sort(out.kept);
    return {};
  }

 private:
  MakeStep make_;
};

std::uint32_t any_slot(Draws& draws, std::uint32_t t) {
  return static_cast<std::uint32_t>(draws.below(shape.k, t, 1));
}

// Algorithm R with another bound for the t-th token.
MakeStep bounded(const std::function<std::uint64_t(std::uint32_t t)>& bound) {
  return [bound] {
    return [bound](const State&, Draws& draws, std::uint32_t t) {
      return draws.below(bound(t), t, 0) < shape.k ? any_slot(draws, t) : shape.k;
    };
  };
}

MakeStep algorithm_r() {
  return bounded([](std::uint32_t t) { return std::uint64_t{t}; });
}

std::uint32_t slot_of_oldest(const State& state) {
  return static_cast<std::uint32_t>(std::ranges::min_element(state.slots) - state.slots.begin());
}

// Algorithm R, but in a share of cases the oldest token is evicted.
MakeStep tilted(double share) {
  return [share] {
    return [share](const State& state, Draws& draws, std::uint32_t t) {
      if (draws.below(t, t, 0) >= shape.k) return shape.k;
      return draws.uniform(t, 2) < share ? slot_of_oldest(state) : any_slot(draws, t);
    };
  };
}

// Algorithm L with its usual mistakes.
enum class Slip { none, first_gap, skips_one, early, never, starts_at_u, wrong_root };

class AlgorithmL {
 public:
  explicit AlgorithmL(Slip slip) : slip_(slip) {}

  std::uint32_t operator()(const State& /*state*/, Draws& draws, std::uint32_t t) {
    if (next_ == 0) begin(draws, t);
    if (t < next_) return shape.k;
    const std::uint32_t slot = any_slot(draws, t + 1000);
    if (slip_ != Slip::never) w_ *= shrink(draws, t, 2);
    next_ = t + 1 + gap(draws, t, 3);
    return slot;
  }

 private:
  void begin(Draws& draws, std::uint32_t t) {
    w_ = slip_ == Slip::starts_at_u ? draws.uniform(t, 0) : shrink(draws, t, 0);
    if (slip_ == Slip::early) w_ *= shrink(draws, t, 7);
    next_ = t + gap(draws, t, 1) + (slip_ == Slip::first_gap ? 1U : 0U);
  }

  [[nodiscard]] double shrink(Draws& draws, std::uint32_t t, std::uint32_t index) const {
    const double k = shape.k + (slip_ == Slip::wrong_root ? 1.0 : 0.0);
    return std::pow(draws.uniform(t, index), 1 / k);
  }

  [[nodiscard]] std::uint32_t gap(Draws& draws, std::uint32_t t, std::uint32_t index) const {
    const double skip = std::floor(std::log(draws.uniform(t, index)) / std::log1p(-w_));
    return static_cast<std::uint32_t>(std::min(skip, 1e6)) + (slip_ == Slip::skips_one ? 1U : 0U);
  }

  Slip slip_;
  double w_ = 1;
  std::uint32_t next_ = 0;
};

MakeStep algorithm_l(Slip slip) {
  return [slip] { return AlgorithmL(slip); };
}

struct Row {
  std::string name;
  MakeStep make;
  std::string published;  // T1, trend, T2, TA, TE of the table that is reproduced
};

std::vector<Row> rows() {
  const double k = shape.k;
  return {
      {"accept k/(t-1)", bounded([](std::uint32_t t) { return std::uint64_t{t} - 1; }),
       "1200 1400 - 180 -"},
      {"accept k/(t+1)", bounded([](std::uint32_t t) { return std::uint64_t{t} + 1; }),
       "1600 1800 27000 360 -"},
      {"always replace", bounded([k](std::uint32_t) { return static_cast<std::uint64_t>(k); }),
       "13 11 <10 <10 -"},
      {"physical length k/(k+1)",
       bounded([k](std::uint32_t) { return static_cast<std::uint64_t>(k) + 1; }), "21 16 25 <10 -"},
      {"last slot never replaced",
       [] {
         return [](const State&, Draws& draws, std::uint32_t t) {
           const auto j = static_cast<std::uint32_t>(draws.below(t, t, 0));
           return j < shape.k - 1 ? j : shape.k;
         };
       },
       "27 150 820 99 1200"},
      {"victim = oldest", tilted(1), "63 94 95 - <10"},
      {"10 % tilt to oldest", tilted(0.1), "1400 4400 1.1e4 - 380"},
      {"L: item k+1 impossible", algorithm_l(Slip::first_gap), "240 4000 - 18 -"},
      {"L: gap one too long", algorithm_l(Slip::skips_one), "100 2000 160 15 -"},
      {"L: W advanced early", algorithm_l(Slip::early), "960 1100 9500 250 -"},
      {"L: W never updated", algorithm_l(Slip::never), "21 18 23 <10 -"},
      {"L: W starts at u", algorithm_l(Slip::starts_at_u), "110 120 92 58 -"},
      {"L: exponent 1/(k+1)", algorithm_l(Slip::wrong_root), "1800 1200 - 1000 -"},
      {"chunk of 8, t at its end",
       bounded([](std::uint32_t t) { return (std::uint64_t{t} + 7) / 8 * 8; }), "140 390 580 33 -"},
  };
}

struct Named {
  const char* name;
  std::function<std::optional<ChanceTest>(const Counts&)> test;
};

std::vector<Named> tests() {
  return {{"T1", [](const Counts& c) { return inclusion_test(c, ChanceLaw::uniform); }},
          {"trend", [](const Counts& c) { return trend_test(c); }},
          {"T2", [](const Counts& c) { return pair_test(c); }},
          {"TA", [](const Counts& c) { return acceptance_test(c, ChanceLaw::uniform); }},
          {"TE", [](const Counts& c) { return age_rank_test(c); }}};
}

Counts counts_of(const MakeStep& make, std::uint64_t root, std::uint64_t streams) {
  SlotSampler sampler(make);
  Counts counts(shape, {.pairs = true});
  if (!collect(sampler, root, 0, streams, counts)) std::abort();
  return counts;
}

// The number of streams needed; 0 if the test cannot detect the fault.
double needed(const ChanceTest& test) {
  const Statistic& statistic = test.statistic;
  const double drift = statistic.freedom > 0 ? statistic.value - statistic.freedom
                                             : statistic.value * statistic.value - 1;
  const double noise = std::sqrt(2 * std::max(1.0, statistic.freedom));
  if (drift < 6 * noise) return 0;
  const double each = drift / static_cast<double>(drift_streams);
  return noncentrality(statistic.freedom, level, 0.99) / each;
}

std::string text_of(double streams) {
  if (streams <= 0) return "-";
  return streams < 10 ? "<10" : number_text(streams);
}

void print_power() {
  std::printf(
      "streams needed, n=16 k=4, level 1e-6, power 0.99; blind below six standard errors "
      "in %llu streams\n\n| sampler | T1 | trend | T2 | TA | TE | expected |"
      " TA or T1 at that number |\n|---|---|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(drift_streams));
  for (const Row& row : rows()) {
    const Counts counts = counts_of(row.make, 1, drift_streams);
    std::string line = "| " + row.name + " |";
    double spot = 0;
    std::size_t by = 0;
    for (std::size_t i = 0; i < tests().size(); ++i) {
      const double streams = needed(*tests()[i].test(counts));
      line += " " + text_of(streams) + " |";
      if (streams >= 15 && (spot <= 0 || streams < spot)) {
        spot = streams;
        by = i;
      }
    }
    int rejected = 0;
    constexpr int runs = 200;
    for (int run = 0; run < runs && spot > 0; ++run) {
      const Counts some = counts_of(row.make, 100 + static_cast<std::uint64_t>(run),
                                    static_cast<std::uint64_t>(std::ceil(spot)));
      const std::optional<ChanceTest> test = tests()[by].test(some);
      rejected += test && test->statistic.p < level ? 1 : 0;
    }
    std::printf("%s %s | %s |\n", line.c_str(), row.published.c_str(),
                spot > 0 ? (std::string(tests()[by].name) + " " +
                            number_text(rejected / static_cast<double>(runs)))
                               .c_str()
                         : "");
    std::fflush(stdout);
  }
}

// Families of six tests at 1e-2 by Bonferroni.
void print_false_alarms(std::uint64_t batteries) {
  std::uint64_t families = 0;
  std::vector<std::uint64_t> single(6);
  for (std::uint64_t b = 0; b < batteries; ++b) {
    const Counts counts = counts_of(algorithm_r(), 1000000 + b, 1000);
    std::vector<double> p;
    for (const Named& test : tests()) p.push_back(test.test(counts)->statistic.p);
    p.push_back(largest_test(counts).statistic.p);
    bool alarm = false;
    for (std::size_t i = 0; i < p.size(); ++i) {
      single[i] += p[i] < 0.01 ? 1U : 0U;
      alarm |= p[i] < 0.01 / static_cast<double>(p.size());
    }
    families += alarm ? 1 : 0;
  }
  const auto total = static_cast<double>(batteries);
  const Bounds bounds = exact_bounds(families, batteries, 0.05);
  std::printf(
      "\n%llu batteries of 1000 streams of Algorithm R, family error 1e-2 over 6 tests: "
      "%llu alarms, %s (%s to %s)\nsingle tests at 1e-2:",
      static_cast<unsigned long long>(batteries), static_cast<unsigned long long>(families),
      percent_text(static_cast<double>(families) / total).c_str(), percent_text(bounds.low).c_str(),
      percent_text(bounds.high).c_str());
  const char* const names[] = {"T1", "trend", "T2", "TA", "TE", "largest"};
  for (std::size_t i = 0; i < single.size(); ++i) {
    std::printf(" %s %s", names[i], percent_text(static_cast<double>(single[i]) / total).c_str());
  }
  std::printf("\n");
}

}  // namespace

int main(int count, char** words) {
  print_power();
  print_false_alarms(count > 1 ? std::strtoull(words[1], nullptr, 10) : 10000);
  return 0;
}
