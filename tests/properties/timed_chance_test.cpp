// Chance measured where time is short: by slow subjects and by programs.
#include <algorithm>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

// A family whose subjects take time to make, by a clock of the test's own.
class Slow final : public Family {
 public:
  Slow(std::string_view spec, double each)
      : inner_(make_spec_family(*parse_spec(spec))), each_(each) {}

  [[nodiscard]] std::string name() const override { return "slow"; }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    return inner_->contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    now += each_;
    return inner_->make(setup, draws);
  }

  [[nodiscard]] kv::properties::Setup requested() const override { return inner_->requested(); }

  // Else it would be measured in a child, whose clock is another.
  [[nodiscard]] bool in_process() const override { return false; }

  double now = 1000;

 private:
  std::unique_ptr<Family> inner_;
  double each_;
};

BatteryResult measured_in(Slow& family, double seconds) {
  BatteryOptions options;
  options.seconds = seconds;
  options.clock = [&] { return family.now; };
  options.filter = {"chance.*"};
  auto report = run_battery(family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

TEST(TimedChance, TakesFewerStreamsAndSaysWhatTheyShow) {
  Slow family("reservoir:sinks=1,recent=2,budget=8", 0.004);
  const BatteryResult report = measured_in(family, 30);
  EXPECT_LE(family.now - 1000, 33);
  EXPECT_GE(family.now - 1000, 10);
  std::size_t cut = 0;
  for (const LawResult& result : report.laws) {
    if (result.status == Status::not_applicable) continue;
    if (result.status == Status::not_run) {
      EXPECT_THAT(result.why, HasSubstr("of the streams: too few")) << result.law->id;
      continue;
    }
    EXPECT_EQ(result.status, Status::held) << result.law->id << ": " << result.why;
    if (result.law->id == "chance.exact") continue;
    ASSERT_TRUE(result.measured);
    EXPECT_THAT(result.measured->sentence, HasSubstr("would have been seen"));
    cut += result.measured->sentence.find("there was time for") != std::string::npos ? 1U : 0U;
  }
  EXPECT_GT(cut, 3U);
}

TEST(TimedChance, FindsWhatIsPlainlyWrongInAFractionOfTheTime) {
  Slow family("reservoir-as-printed:sinks=1,recent=2,budget=8", 0.004);
  const BatteryResult report = measured_in(family, 15);
  EXPECT_LE(family.now - 1000, 16.5);
  for (const char* law : {"chance.acceptance", "chance.inclusion"}) {
    const auto found =
        std::ranges::find(report.laws, law, [](const LawResult& result) { return result.law->id; });
    ASSERT_NE(found, report.laws.end());
    EXPECT_EQ(found->status, Status::broken) << law << ": " << found->why;
  }
}

TEST(TimedChance, RunsOutOfTimeAndSaysSo) {
  Slow family("reservoir:sinks=1,recent=2,budget=8", 5);
  const BatteryResult report = measured_in(family, 15);
  EXPECT_TRUE(std::ranges::any_of(report.laws, [](const LawResult& result) {
    return result.status == Status::not_run && result.why == "time ran out";
  }));
}

// A reservoir in Python that draws the place of a newcomer as `place` says.
std::string reservoir(const std::string& place) {
  return "PYTHONPATH='" KVCHECK_SOURCE_DIR
         "/python' python3 -c 'import kvcheck, random\n"
         "class Reservoir:\n"
         "  def __init__(self, sinks, recent, budget, seed, head):\n"
         "    self.k = budget - sinks - max(recent, 1)\n"
         "    if self.k < 1: raise ValueError(\"no middle\")\n"
         "    self.sinks, self.recent = sinks, max(recent, 1)\n"
         "    self.rng = random.Random(\"%d/%d\" % (seed, head))\n"
         "    self.first, self.middle, self.last, self.t = [], [], [], 0\n"
         "  def append(self, tokens):\n"
         "    return [self.take(token) for token in tokens]\n"
         "  def take(self, token):\n"
         "    if len(self.first) < self.sinks: self.first.append(token)\n"
         "    else: self.last.append(token)\n"
         "    if len(self.last) > self.recent: self.offer(self.last.pop(0))\n"
         "    return self.kept()\n"
         "  def offer(self, token):\n"
         "    self.t += 1\n"
         "    if len(self.middle) == self.k:\n"
         "      place = " +
         place +
         "\n"
         "      if place >= self.k: return\n"
         "      del self.middle[place]\n"
         "    self.middle.append(token)\n"
         "  def kept(self):\n"
         "    return self.first + self.middle + self.last\n"
         "kvcheck.serve(Reservoir, contract={\"random\": True, \"claims\": [\"uniform\"]})'";
}

LawResult measured_of(const std::string& program, const std::string& law, std::uint64_t seed = 1) {
  const auto family = make_process_family(program);
  EXPECT_TRUE(family) << family.error().message;
  BatteryOptions options;
  options.filter = {law};
  options.effort.seed = seed;
  auto report = run_battery(**family, options);
  EXPECT_TRUE(report);
  return report->laws.at(0);
}

LawResult acceptance_of(const std::string& bound) {
  return measured_of(reservoir("self.rng.randrange(" + bound + ")"), "chance.acceptance");
}

// The sample is what has the largest keys, of which each is a multiple of 1/256.
std::string rounded_keys() {
  return "PYTHONPATH='" KVCHECK_SOURCE_DIR
         "/python' python3 -c 'import kvcheck, random\n"
         "class Keys:\n"
         "  def __init__(self, sinks, recent, budget, seed, head):\n"
         "    self.k = budget - sinks - max(recent, 1)\n"
         "    if self.k < 1: raise ValueError(\"no middle\")\n"
         "    self.sinks, self.recent = sinks, max(recent, 1)\n"
         "    self.rng = random.Random(\"%d/%d\" % (seed, head))\n"
         "    self.first, self.middle, self.last = [], [], []\n"
         "  def append(self, tokens):\n"
         "    return [self.take(token) for token in tokens]\n"
         "  def take(self, token):\n"
         "    if len(self.first) < self.sinks: self.first.append(token)\n"
         "    else: self.last.append(token)\n"
         "    if len(self.last) > self.recent:\n"
         "      key = round(self.rng.random() * 256)\n"
         "      self.middle.append((key, 0, self.last.pop(0)))\n"
         "      if len(self.middle) > self.k:\n"
         "        self.middle.remove(min(self.middle, key=lambda row: (row[0], -row[2])))\n"
         "    return self.kept()\n"
         "  def kept(self):\n"
         "    return self.first + [row[2] for row in self.middle] + self.last\n"
         "kvcheck.serve(Keys, contract={\"random\": True, \"claims\": [\"uniform\"]})'";
}

TEST(RemoteChance, SeesAReservoirThatIsOffByOne) {
  const LawResult right = acceptance_of("self.t");
  EXPECT_EQ(right.status, Status::held) << right.why;
  EXPECT_THAT(right.measured->sentence, HasSubstr("would have been seen"));
  EXPECT_EQ(acceptance_of("self.k").status, Status::broken);      // always admits
  EXPECT_EQ(acceptance_of("self.t - 1").status, Status::broken);  // k/(t-1)
  EXPECT_EQ(acceptance_of("self.t + 1").status, Status::broken);  // k/(t+1)
}

TEST(RemoteChance, SeesDrawsOfTooFewValues) {
  const std::string right = reservoir("self.rng.randrange(self.t)");
  const std::string modulo = reservoir("self.rng.randrange(1024) % self.t");
  EXPECT_EQ(measured_of(right, "chance.contrasts").status, Status::held);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_EQ(measured_of(modulo, "chance.contrasts", seed).status, Status::broken) << seed;
    EXPECT_EQ(measured_of(rounded_keys(), "chance.contrasts", seed).status, Status::broken) << seed;
  }
}

// kvcheck uniformity, with the tests that it has for specs.
TEST(RemoteChance, UniformityMeasuresPrograms) {
  const auto measured = [](const std::string& program, const std::string& tokens) {
    return test::run(
        {"uniformity", "--exec", program, "--tokens", tokens, "--trials", "300", "-q"});
  };
  const auto right = measured(reservoir("self.rng.randrange(self.t)"), "64");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("Reservoir: 300 streams of 64 tokens; 58 entered the middle"));
  EXPECT_THAT(right.out, HasSubstr("uniform: nothing deviates"));
  const auto wrong = measured(reservoir("self.rng.randrange(self.k)"), "64");
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("not uniform"));
  const auto modulo = measured(reservoir("self.rng.randrange(1024) % self.t"), "1024");
  EXPECT_EQ(modulo.status, 1) << modulo.out << modulo.err;
  const auto few = measured(reservoir("0"), "12");
  EXPECT_EQ(few.status, 2);
  EXPECT_THAT(few.err, HasSubstr("streams of 12 tokens fit into the budget of 12"));
}

}  // namespace
}  // namespace kv::properties
