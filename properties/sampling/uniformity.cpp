#include "kvcheck/properties/sampling/uniformity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kvcheck/properties/sampling/escalation.h"
#include "kvcheck/properties/sampling/family_sampler.h"
#include "kvcheck/properties/sampling/spec_sampler.h"
#include "kvcheck/properties/statistics/diagnosis.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

constexpr double family_error = 1e-9;
constexpr std::uint32_t most_paired = 256;  // tokens up to which pairs are counted

CountsRequested requested_of(const Shape& shape) {
  return {.pairs = shape.n <= most_paired, .subsets = shape.n <= 7};
}

void add(std::vector<ChanceTest>& tests, std::optional<ChanceTest> test) {
  if (test) tests.push_back(*std::move(test));
}

std::vector<ChanceTest> tests_of(const Counts& counts) {
  std::vector<ChanceTest> tests;
  tests.push_back(inclusion_test(counts, ChanceLaw::uniform));
  tests.push_back(trend_test(counts));
  tests.push_back(largest_test(counts));
  if (counts.has_pairs()) add(tests, pair_test(counts));
  if (!counts.subsets().empty()) add(tests, subset_test(counts));
  add(tests, acceptance_test(counts, ChanceLaw::uniform));
  add(tests, age_rank_test(counts));
  return tests;
}

MakeSampler sampler_of(const Spec& spec, std::uint32_t tokens) {
  return [spec, tokens] { return std::make_unique<SpecSampler>(spec, tokens); };
}

// The band that some of the n shares leaves with at most 5 %, by the normal tail and Bonferroni.
double band_of(const Counts& counts) {
  const Shape& shape = counts.shape();
  const double share = static_cast<double>(shape.k) / static_cast<double>(shape.n);
  const double z = std::sqrt(noncentrality(0, 0.05 / static_cast<double>(shape.n), 0.5));
  return z * std::sqrt(share * (1 - share) / static_cast<double>(counts.streams()));
}

// The same policy and settings at a size of the ladder.
Spec resized(Spec spec, const Shape& shape) {
  spec.sinks = spec.policy->protection.takes_sinks ? 1 : 0;
  spec.recent = 2;
  spec.budget = spec.sinks + spec.recent + shape.k;
  return spec;
}

struct Step {
  Shape shape;
  std::uint64_t streams;
};

// From sizes where an index that is off by one shows to sizes where slow drift does; fewer streams
// where they are longer.
constexpr std::array<Step, 7> ladder = {{{{.n = 5, .k = 4}, 20000},
                                         {{.n = 8, .k = 4}, 20000},
                                         {{.n = 16, .k = 4}, 20000},
                                         {{.n = 64, .k = 16}, 5000},
                                         {{.n = 256, .k = 32}, 2000},
                                         {{.n = 1024, .k = 128}, 500},
                                         {{.n = 4096, .k = 512}, 200}}};

LadderStep step_of(const Spec& spec,
                   std::uint32_t tokens,
                   const Shape& shape,
                   std::uint64_t streams,
                   const UniformityOptions& options) {
  return {.where = "n=" + std::to_string(shape.n) + " k=" + std::to_string(shape.k),
          .streams = streams,
          .run = [=](std::uint64_t root, std::uint64_t count) -> Result<std::vector<ChanceTest>> {
            const auto more = [&](std::uint64_t /*done*/) {
              return !options.more || options.more(1);
            };
            Result<Counts> counts = collect_threads(sampler_of(spec, tokens), requested_of(shape),
                                                    root, count, options.threads, more);
            if (!counts) return counts.error();
            return tests_of(*counts);
          }};
}

// Up the ladder until a step rejects. Steps share the error by Bonferroni over the whole ladder.
Result<void> walk(const Spec& spec, const UniformityOptions& options, UniformityResult& report) {
  for (const Step& step : ladder) {
    const Spec small = resized(spec, step.shape);
    const Result<std::uint32_t> tokens = tokens_for(small, step.shape.n);
    if (!tokens) continue;
    const Result<Shape> shape = shape_of(small, *tokens);
    if (!shape) continue;
    const std::vector<LadderStep> steps = {step_of(small, *tokens, *shape, step.streams, options)};
    Result<Escalated> climbed = escalate(steps, "uniformity ladder", options.seed,
                                         family_error / static_cast<double>(ladder.size()));
    if (!climbed) return climbed.error();
    for (Statistic& statistic : climbed->statistics) report.ladder.push_back(statistic);
    if (!climbed->rejected) continue;
    const Statistic& rejected = climbed->statistics[*climbed->rejected];
    report.smallest = small.label() + ", " + rejected.where + ": " + rejected.effect;
    return {};
  }
  return {};
}

// Every outcome of every draw at the smallest size where the law differs: a fraction needs no
// statistics to be believed.
void find_witness(const Spec& spec, UniformityResult& report) {
  for (const Shape shape :
       {Shape{3, 1}, Shape{3, 2}, Shape{4, 2}, Shape{5, 2}, Shape{5, 3}, Shape{6, 3}}) {
    const Spec small = resized(spec, shape);
    const Result<std::uint32_t> tokens = tokens_for(small, shape.n);
    if (!tokens) return;
    const auto found = shape_of(small, *tokens);
    if (!found || found->n > 7) continue;
    SpecSampler sampler(small, *tokens);
    const ExactLaw law = enumerate(
        sampler.shape(), [&](Draws& draws) { return sampler.kept_with(draws); }, 20000);
    if (!law.refusal.empty()) return;
    const auto right = exact_subsets(ChanceLaw::uniform, sampler.shape());
    if (total_variation(law.subsets, right) == 0) continue;
    const auto seen = exact_inclusions(law.subsets, sampler.shape());
    report.witness = "exactly, over all " + std::to_string(law.runs) +
                     " outcomes at n=" + std::to_string(found->n) +
                     " k=" + std::to_string(found->k) + ", tokens are kept with";
    for (const Rational& share : seen) report.witness += " " + fraction_text(share);
    report.witness += " instead of " + std::to_string(found->k) + "/" + std::to_string(found->n);
    return;
  }
}

std::string verdict_words(const UniformityResult& report) {
  if (report.uniform) {
    const auto best = std::ranges::min_element(report.statistics, {}, [](const Statistic& s) {
      return s.detectable > 0 ? s.detectable : 1e9;
    });
    return "uniform: nothing deviates; " + best->name + " would have seen a deviation of " +
           percent_text(best->detectable) + " with power 0.99";
  }
  const auto rejected = std::ranges::find(report.statistics, true, &Statistic::rejected);
  std::string law = follows(report.counts, ChanceLaw::uniform);
  if (law.empty()) law = accepts_like(report.counts, ChanceLaw::uniform);
  if (law.empty()) law = evicts_like(report.counts);
  return "not uniform: " + (law.empty() ? rejected->effect : law) + "; test " + rejected->name +
         ": " + p_text(rejected->p);
}

// Counts so many streams of a root.
using CountStreams = std::function<Result<Counts>(std::uint64_t root, std::uint64_t count)>;

Result<UniformityResult> measured(const Shape& shape,
                                  const UniformityOptions& options,
                                  const CountStreams& count_streams) {
  std::optional<Counts> first;
  const LadderStep bin = {
      .where = "n=" + std::to_string(shape.n) + " k=" + std::to_string(shape.k),
      .streams = options.trials,
      .run = [&](std::uint64_t root, std::uint64_t count) -> Result<std::vector<ChanceTest>> {
        Result<Counts> counts = count_streams(root, count);
        if (!counts) return counts.error();
        std::vector<ChanceTest> tests = tests_of(*counts);
        if (!first) first = *std::move(counts);
        return tests;
      }};
  Result<Escalated> climbed = escalate({bin}, "uniformity", options.seed, family_error);
  if (!climbed) return climbed.error();
  UniformityResult report{.counts = *std::move(first),
                          .tokens = options.tokens,
                          .seed = options.seed,
                          .decisions = options.trials * (shape.n - shape.k),
                          .statistics = std::move(climbed->statistics),
                          .uniform = !climbed->rejected};
  report.band = band_of(report.counts);
  report.sentence = verdict_words(report);
  return report;
}

// Whether to continue after so many of `count` streams.
bool continues(const UniformityOptions& options, std::uint64_t done, std::uint64_t count) {
  return !options.more || options.more(static_cast<double>(done) / static_cast<double>(count));
}

}  // namespace

Result<UniformityResult> measure_uniformity(const Spec& spec, const UniformityOptions& options) {
  const Result<Shape> shape = shape_of(spec, options.tokens);
  if (!shape) return shape.error();
  Result<UniformityResult> report =
      measured(*shape, options, [&](std::uint64_t root, std::uint64_t count) {
        const auto more = [&](std::uint64_t done) { return continues(options, done, count); };
        return collect_threads(sampler_of(spec, options.tokens), requested_of(*shape), root, count,
                               options.threads, more);
      });
  if (!report || report->uniform) return report;
  if (const auto done = walk(spec, options, *report); !done) return done.error();
  find_witness(spec, *report);
  return report;
}

Result<UniformityResult> measure_uniformity(Family& family, const UniformityOptions& options) {
  Setup setup = family.requested();
  setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
  if (!family.contract(setup)) setup = family.requested();
  const Result<Contract> contract = family.contract(setup);
  if (!contract) return contract.error();
  if (options.tokens <= contract->budget) {
    return usage_error("streams of " + std::to_string(options.tokens) +
                       " tokens fit into the budget of " + std::to_string(contract->budget) +
                       ": nothing is evicted");
  }
  const std::uint32_t entering = options.tokens - contract->sinks - contract->recent;
  const auto sampler =
      FamilySampler::make(family, {.setup = setup, .chunks = {}, .entering = entering});
  if (!sampler) return sampler.error();
  const Shape shape = (*sampler)->shape();
  return measured(shape, options, [&](std::uint64_t root, std::uint64_t count) -> Result<Counts> {
    Counts counts(shape, requested_of(shape));
    for (std::uint64_t r = 0; r < count; ++r) {
      if (!continues(options, r, count)) {
        return Error{Error::Kind::busy, "stopped before all streams were run"};
      }
      if (auto done = collect(**sampler, root, r, 1, counts); !done) return done.error();
    }
    return counts;
  });
}

}  // namespace kv::properties
