// Of the cases that check shows none has a fork that the finding does not need.
#include <cstdlib>
#include <string>

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Kind = Call::Kind;

bool is_fork(const Call& call) {
  return call.kind == Kind::fork;
}

// What becomes of the calls after a fork that is taken out.
enum class Later { parent_alone, copy_alone, both_on_the_parent };

// Written anew rather than taken from what shrinks. Nothing if a dropped branch makes no sense of
// the rest.
Case without_fork(const Case& what, std::size_t fork, Later later) {
  const std::uint32_t parent = what.calls[fork].branch;
  const auto forks_before = static_cast<std::uint32_t>(std::count_if(
      what.calls.begin(), what.calls.begin() + static_cast<std::ptrdiff_t>(fork), is_fork));
  const std::uint32_t copy = forks_before + 1;
  Case result{what.setup, what.stream, {}};
  std::vector<bool> dropped(what.calls.size() + 2, false);  // of each branch, by its old number
  std::vector<std::uint32_t> renamed = {0};
  std::uint32_t made = 0;
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    Call call = what.calls[i];
    const bool on_copy = call.branch == copy;
    const bool on_parent = i > fork && call.branch == parent;
    const bool drop = dropped[call.branch] || (later == Later::parent_alone && on_copy) ||
                      (later == Later::copy_alone && on_parent);
    if (i == fork) {
      renamed.push_back(renamed[parent]);
      continue;
    }
    if (is_fork(call)) {
      dropped[renamed.size()] = drop;
      renamed.push_back(drop ? 0 : ++made);
    }
    if (drop) continue;
    call.branch = renamed[call.branch];
    result.calls.push_back(std::move(call));
  }
  return result;
}

bool has_fork(const Case& what) {
  return std::ranges::any_of(what.calls, is_fork);
}

// What every run of the tests has the time for; or all mutants, with as many cases of each law as
// KVCHECK_CASES says.
struct Tried {
  std::vector<Mutant> mutants;
  std::uint32_t cases = 12;
};

Tried tried() {
  const char* const given = std::getenv("KVCHECK_CASES");
  if (given == nullptr) return {fork_mutants()};
  return {{mutants().begin(), mutants().end()}, static_cast<std::uint32_t>(std::stoul(given))};
}

// The laws that the mutant breaks in a case with a fork, before it is shrunk.
std::vector<std::string> broken_with_forks(Family& family, BatteryOptions options) {
  options.shrink = false;
  for (const Law& law : laws()) {
    if (!law.id.starts_with("chance.")) options.filter.emplace_back(law.id);
  }
  std::vector<std::string> ids;
  const auto report = run_battery(family, options);
  if (!report) return ids;  // its contract contradicts itself
  for (const LawResult& result : report->laws) {
    if (result.smallest && has_fork(*result.smallest)) ids.emplace_back(result.law->id);
  }
  return ids;
}

struct Seen {
  std::size_t before = 0;  // cases with forks that broke a law
  std::size_t after = 0;   // of these, once they were shrunk
};

void expect_no_needless_fork(Family& family, const LawResult& result) {
  const Case& smallest = *result.smallest;
  for (std::size_t i = 0; i < smallest.calls.size(); ++i) {
    if (!is_fork(smallest.calls[i])) continue;
    for (const Later later : {Later::parent_alone, Later::copy_alone, Later::both_on_the_parent}) {
      const Case less = without_fork(smallest, i, later);
      EXPECT_EQ(attempt(*result.law, family, less).finding(), nullptr)
          << smallest.text() << " could be " << less.text();
    }
  }
}

TEST(Minimality, NoMutantNeedsAForkThatItsCaseCouldDoWithout) {
  BatteryOptions options;
  const Tried all = tried();
  options.cases = all.cases;
  Seen seen;
  for (const Mutant& mutant : all.mutants) {
    const auto family = mutant.make();
    options.filter = broken_with_forks(*family, options);
    if (options.filter.empty()) continue;
    const auto report = run_battery(*family, options);
    ASSERT_TRUE(report) << report.error().message;
    for (const LawResult& result : report->laws) {
      if (!result.smallest) continue;
      SCOPED_TRACE(std::string(mutant.name) + ", " + std::string(result.law->id));
      EXPECT_FALSE(result.shrinks_cut);
      ++seen.before;
      if (!has_fork(*result.smallest)) continue;
      ++seen.after;
      expect_no_needless_fork(*family, result);
    }
  }
  RecordProperty("before", static_cast<int>(seen.before));
  RecordProperty("after", static_cast<int>(seen.after));
  EXPECT_GE(seen.after, 4U);
}

}  // namespace
}  // namespace kv::properties
