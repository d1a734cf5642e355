#include "kvcheck/properties/laws/chance/chance_measures.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/sampling/e_process.h"
#include "kvcheck/properties/sampling/exact.h"
#include "kvcheck/properties/sampling/ladder.h"
#include "kvcheck/properties/statistics/diagnosis.h"

namespace kv::properties {
namespace {

// n = k + 1 shows an index that is off by one; n = 16 what happens over several decisions; n = 64
// what drifts. Streams are fewer where they are longer.
constexpr std::array<Rung, 4> inclusion_rungs = {{{{.n = 5, .k = 4}, 1500},
                                                  {{.n = 8, .k = 4}, 1500},
                                                  {{.n = 16, .k = 4}, 2000},
                                                  {{.n = 64, .k = 16}, 200}}};
constexpr std::array<Rung, 3> pair_rungs = {
    {{{.n = 6, .k = 3}, 1500}, {{.n = 8, .k = 4}, 1500}, {{.n = 16, .k = 4}, 1500}}};
constexpr std::array<Rung, 4> decision_rungs = {{{{.n = 5, .k = 4}, 1500},
                                                 {{.n = 8, .k = 4}, 1500},
                                                 {{.n = 16, .k = 4}, 1500},
                                                 {{.n = 64, .k = 16}, 300}}};
// A small sample of a long stream shows draws that have too few values, such as a remainder of ten
// bits or rounded keys: a slope, which is a small part of what inclusion scatters by.
constexpr std::array<Rung, 5> contrast_rungs = {{decision_rungs[0],
                                                 decision_rungs[1],
                                                 decision_rungs[2],
                                                 decision_rungs[3],
                                                 {{.n = 1024, .k = 4}, 240}}};
constexpr std::array<Rung, 2> chunk_rungs = {
    {{{.n = 16, .k = 4}, 1500}, {{.n = 64, .k = 16}, 200}}};

std::vector<ChanceTest> tests_of(std::optional<ChanceTest> test) {
  return test ? std::vector{*std::move(test)} : std::vector<ChanceTest>();
}

std::vector<ChanceTest> pair_tests(const Counts& counts) {
  // Below 50 expected pairs the tail would have to be simulated; the ladder has larger steps
  // instead.
  const double k = counts.shape().k;
  const double n = counts.shape().n;
  const double expected = static_cast<double>(counts.streams()) * k * (k - 1) / (n * (n - 1));
  return tests_of(expected >= 50 ? pair_test(counts) : std::nullopt);
}

// How often each token is kept, against the law.
Ask inclusion_ask(std::string_view name, std::span<const Rung> rungs, ChanceLaw law) {
  return {.law = name,
          .rungs = rungs,
          .tests = [law](const Counts& counts) { return tests_of(inclusion_test(counts, law)); },
          .diagnose = [law](const Counts& counts) { return follows(counts, law); }};
}

constexpr std::uint64_t evidence_streams = 2000;  // times 64 in a nightly run
constexpr double evidence_level = law_error;

// What a nightly run adds to the fixed tests: evidence that grows with every stream, over newcomers
// and older tokens at once.
void add_evidence(Family& family,
                  const Effort& effort,
                  ChanceLaw law,
                  StatisticalVerdict& verdict) {
  const Shape shape{.n = 16, .k = 4};
  const auto sampler = FamilySampler::make(
      family, {.setup = family.takes_sizes() ? rung_setup(shape) : family.requested(),
               .chunks = {},
               .entering = shape.n});
  if (!sampler) return;
  EProcess process((*sampler)->shape(), law);
  const std::uint64_t root = test_root(effort.seed, "chance.evidence", 1);
  const std::uint64_t streams = streams_at(evidence_streams, effort, family);
  Replicate replicate;
  std::uint64_t seen = 0;
  while (seen < streams && process.p() >= evidence_level) {
    if (!(*sampler)->sample(stream_seed(root, seen), replicate)) return;
    if (replicate.gone.empty()) return;  // decisions are not reported one by one
    process.add(replicate);
    ++seen;
  }
  Statistic statistic{.name = "E",
                      .what = "evidence against the law, at any time; value: ln E",
                      .where = (*sampler)->where() + ", " + std::to_string(seen) + " streams",
                      .value = process.log_evidence(),
                      .p = process.p(),
                      .level = evidence_level,
                      .effect = "best alternative: " + process.best(),
                      .rejected = process.p() < evidence_level};
  if (statistic.rejected && !verdict.broken) {
    verdict.broken = true;
    verdict.sentence = process.best() + ", ln E = " + number_text(statistic.value);
    verdict.smallest = statistic.where + ", seed " + std::to_string(effort.seed);
  }
  verdict.statistics.push_back(std::move(statistic));
}

}  // namespace

ChanceLaw claimed_law(const Family& family) {
  const Result<Contract> contract = family.contract(family.requested());
  KV_CHECK(contract.has_value());
  const std::optional<ChanceLaw> law = chance_law_of(*contract);
  KV_CHECK(law.has_value());
  return *law;
}

StatisticalVerdict measure_inclusion(Family& family, const Effort& effort) {
  return climb(family, effort,
               inclusion_ask("chance.inclusion", inclusion_rungs, ChanceLaw::uniform));
}

StatisticalVerdict measure_pairs(Family& family, const Effort& effort) {
  return climb(family, effort,
               {.law = "chance.pairs",
                .rungs = pair_rungs,
                .requested = {.pairs = true},
                .tests = pair_tests,
                .diagnose = {}});
}

StatisticalVerdict measure_acceptance(Family& family, const Effort& effort) {
  const ChanceLaw law = claimed_law(family);
  StatisticalVerdict verdict = climb(
      family, effort,
      {.law = "chance.acceptance",
       .rungs = decision_rungs,
       .tests = [law](const Counts& counts) { return tests_of(acceptance_test(counts, law)); },
       .diagnose = [law](const Counts& counts) { return accepts_like(counts, law); }});
  if (verdict.ran && effort.level == Level::nightly) add_evidence(family, effort, law, verdict);
  return verdict;
}

StatisticalVerdict measure_age_rank(Family& family, const Effort& effort) {
  return climb(family, effort,
               {.law = "chance.age-rank",
                .rungs = decision_rungs,
                .tests = [](const Counts& counts) { return tests_of(age_rank_test(counts)); },
                .diagnose = evicts_like});
}

StatisticalVerdict measure_contrasts(Family& family, const Effort& effort) {
  return climb(family, effort,
               {.law = "chance.contrasts",
                .rungs = contrast_rungs,
                .tests =
                    [](const Counts& counts) {
                      return std::vector<ChanceTest>{trend_test(counts), largest_test(counts)};
                    },
                .diagnose = {}});
}

StatisticalVerdict measure_age_law(Family& family, const Effort& effort) {
  return climb(family, effort,
               inclusion_ask("chance.age-law", inclusion_rungs, claimed_law(family)));
}

StatisticalVerdict measure_chunks(Family& family, const Effort& effort) {
  Ask ask = inclusion_ask("chance.chunks", chunk_rungs, claimed_law(family));
  ask.chunks = {3, 1, 9, 2, 5};
  return climb(family, effort, ask);
}

}  // namespace kv::properties
