// Runs that are killed and continued: the results have the bytes of an uninterrupted run.
#include <array>
#include <csignal>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/unfinished/part_records.h"
#include "kvcheck/tests/cli/killed_run.h"

namespace kv {
namespace {

using test::clean_run;
using test::interrupt_when_grown;
using test::outputs_of;
using test::Place;
using test::Ran;
using test::read_text;
using test::with;
using test::Words;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Words replay = test::long_replay();
const Words eval = test::long_eval();

// How often the command was interrupted, up to five times, each with another number of threads.
int interruptions_of(const Place& place,
                     const Words& command,
                     int signal,
                     std::size_t bytes_a_try) {
  constexpr std::array<unsigned, 3> threads = {1, 2, 7};
  int interrupted = 0;
  for (std::size_t attempt = 0; attempt < 5; ++attempt) {
    const Words words = place.outputs(command, threads[attempt % 3], attempt > 0);
    if (!interrupt_when_grown(place, words, bytes_a_try, signal)) break;
    ++interrupted;
    EXPECT_GT(place.size_of_parts(), 0U);
  }
  return interrupted;
}

// Interrupts the command again and again, and lets the last try end.
void expect_same_after(const Words& command, int signal, std::size_t bytes_a_try) {
  const test::Outputs expected = clean_run(command);
  // On a busy machine a command may end before its signal comes, and is then begun anew.
  for (int trial = 0; trial < 5; ++trial) {
    const Place place;
    if (interruptions_of(place, command, signal, bytes_a_try) == 0) continue;
    const Ran last = test::run(place.outputs(command, 7, true));
    EXPECT_EQ(last.status, 0) << last.err;
    EXPECT_TRUE(outputs_of(place, last) == expected);
    EXPECT_THAT(place.folder.names(), ElementsAre("run.csv", "run.db", "run.json"));
    return;
  }
  FAIL() << "no try was interrupted";
}

TEST(Resume, OfAKilledReplayGivesTheBytesOfAWholeOne) {
  expect_same_after(replay, SIGKILL, 20000);
}

TEST(Resume, OfAnInterruptedReplayGivesTheBytesOfAWholeOne) {
  expect_same_after(replay, SIGTERM, 60000);
}

TEST(Resume, OfAKilledEvaluationGivesTheBytesOfAWholeOne) {
  expect_same_after(eval, SIGKILL, 300);
}

TEST(Resume, OfAnInterruptedEvaluationGivesTheBytesOfAWholeOne) {
  expect_same_after(eval, SIGINT, 100);
}

// A run is complete when its outputs are, and not when its results are.
void expect_same_after_a_kill_in_printing(const Words& command) {
  const auto words = [&](const Place& place, const Words& more) {
    return with(with(command, {"--quiet", "--json", "-", "-o", place.folder / "run.db"}), more);
  };
  const Place clean;
  const Ran whole = test::run(words(clean, {}));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const Place place;
  ASSERT_TRUE(test::kill_while_it_prints(words(place, {})));
  const Ran last = test::run(words(place, {"--resume"}));
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_TRUE(last.out == whole.out);
  EXPECT_TRUE(read_text(place.folder / "run.db") == read_text(clean.folder / "run.db"));
  EXPECT_THAT(place.folder.names(), ElementsAre("run.db"));
}

TEST(Resume, OfAReplayKilledWhileItPrints) {
  expect_same_after_a_kill_in_printing(with(replay, {"--per-head"}));
}

TEST(Resume, OfAnEvaluationKilledWhileItPrints) {
  expect_same_after_a_kill_in_printing(eval);
}

TEST(Resume, AddsToTheRunsThatTheFileHad) {
  const Words earlier = {"replay", "synthetic:zipf:tokens=64", "--policy", "fifo", "--budget", "8"};
  const Place clean;
  ASSERT_EQ(test::run(clean.outputs(earlier, 1, false)).status, 0);
  ASSERT_EQ(test::run(clean.outputs(replay, 1, false)).status, 0);
  const Place place;
  ASSERT_EQ(test::run(place.outputs(earlier, 1, false)).status, 0);
  ASSERT_TRUE(interrupt_when_grown(place, place.outputs(replay, 1, false), 20000, SIGKILL));
  ASSERT_EQ(test::run(place.outputs(replay, 2, true)).status, 0);
  EXPECT_TRUE(read_text(place.folder / "run.db") == read_text(clean.folder / "run.db"));
}

TEST(Resume, WithNothingToContinueIsANewRun) {
  const Place place;
  const Words command = {"replay", "synthetic:zipf:tokens=64", "--policy", "fifo", "--budget", "8"};
  const Ran ran = test::run(place.outputs(command, 1, true));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("holds no unfinished run of this command; a new one begins"));
  EXPECT_TRUE(outputs_of(place, ran) == clean_run(command));
  const Ran without = test::run(with(command, {"--resume"}));
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("expected -o FILE"));
}

TEST(Resume, OfATimingKeepsTheRowsThatWereTimed) {
  const Words command = {
      "speed",    "--model", test::a_model(), "--policy",   "dense",    "--policy", "window",
      "--budget", "16",      "--length",      "32,300,600", "--tokens", "4"};
  const Place place;
  const Words outputs = {"-o", place.folder / "run.db", "--csv", place.folder / "run.csv"};
  ASSERT_TRUE(interrupt_when_grown(place, with(command, outputs), 100, SIGKILL));
  const std::size_t kept = reports::parse_parts(read_text(place.parts()), "x").value().parts.size();
  ASSERT_GT(kept, 0U);
  const Ran ran = test::run(with(with(command, outputs), {"--resume"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("continues, with " + std::to_string(kept) + " finished part"));
  const reports::StoredRun run = reports::read_run(place.folder / "run.db").value();
  EXPECT_TRUE(run.summary.complete);
  EXPECT_EQ(run.timings.front().cells.size(), 6U);
  EXPECT_THAT(place.parts(), IsEmpty());
}

}  // namespace
}  // namespace kv
