#include "kvcheck/properties/sampling/ladder.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kv::properties {
namespace {

constexpr std::uint64_t target_tokens = 12000;  // fed at the requested size in a quick run
constexpr std::uint64_t fewest_streams = 30;    // where time is short

StatisticalVerdict not_run(const std::string& why) {
  StatisticalVerdict verdict;
  verdict.why_not = why;
  return verdict;
}

// With a limit of time, as many as there is time for, and thirty at least.
Result<Counts> count(FamilySampler& sampler,
                     const CountsRequested& requested,
                     std::uint64_t root,
                     std::uint64_t streams,
                     const std::function<double()>& seconds_left) {
  Counts counts(sampler.shape(), requested);
  for (std::uint64_t r = 0; r < streams; ++r) {
    if (r >= fewest_streams && seconds_left && seconds_left() <= 0) break;
    if (const auto done = collect(sampler, root, r, 1, counts); !done) return done.error();
  }
  return counts;
}

struct Site {
  std::shared_ptr<FamilySampler> sampler;
  std::uint64_t streams = 0;
};

Result<Site> site_of(Family& family, const Setup& setup, const Ask& ask, const Rung& rung) {
  auto sampler =
      FamilySampler::make(family, {.setup = setup, .chunks = ask.chunks, .entering = rung.shape.n});
  if (!sampler) return sampler.error();
  return Site{std::shared_ptr<FamilySampler>(*std::move(sampler)), rung.streams};
}

// The requested size, with about four times as many tokens as fit; in few streams. One unit where
// the family allows it: the laws are about one reservoir.
Result<Site> requested_site(Family& family, const Ask& ask) {
  const Setup requested = family.requested();
  Setup one = requested;
  one.layers = 1;
  one.kv_heads = 1;
  one.group = 1;
  one.sequences = 1;
  Result<Contract> contract = family.contract(one);
  if (!contract) {
    one = requested;
    contract = family.contract(one);
  }
  if (!contract) return contract.error();
  const std::uint32_t kept_out = contract->sinks + contract->recent;
  const std::uint32_t k = contract->budget > kept_out ? contract->budget - kept_out : 1;
  const std::uint32_t n = std::min(4 * k, k + 2048);
  const std::uint64_t streams = std::max<std::uint64_t>(50, target_tokens / (n + kept_out));
  return site_of(family, one, ask, {{.n = n, .k = k}, streams});
}

Result<std::vector<Site>> sites_of(Family& family, const Ask& ask) {
  std::vector<Site> sites;
  std::string refused;
  if (family.takes_sizes()) {
    for (const Rung& rung : ask.rungs) {
      Result<Site> site = site_of(family, rung_setup(rung.shape), ask, rung);
      if (!site) {
        refused = site.error().message;
        continue;
      }
      // Sizes that the subject changed may coincide.
      const bool known = std::ranges::any_of(sites, [&](const Site& other) {
        return other.sampler->shape() == site->sampler->shape();
      });
      if (!known) sites.push_back(*std::move(site));
    }
  }
  Result<Site> requested = requested_site(family, ask);
  if (requested) {
    // Covariances are quadratic in n.
    const bool small = requested->sampler->shape().n <= 4096;
    if (small || sites.empty()) sites.push_back(*std::move(requested));
  } else if (sites.empty()) {
    return refused.empty() ? requested.error() : Error{Error::Kind::unsupported, refused};
  }
  return sites;
}

}  // namespace

Setup rung_setup(const Shape& shape) {
  return {.sinks = 1, .recent = 2, .budget = 3 + shape.k};
}

std::uint64_t streams_at(std::uint64_t quick, const Effort& effort, const Family& family) {
  const std::uint64_t factor =
      effort.level == Level::quick ? 1 : (effort.level == Level::full ? 8 : 64);
  const std::uint64_t streams = quick * factor;
  return family.in_process() ? streams : std::max<std::uint64_t>(50, streams / 2);
}

std::string finest(std::span<const Statistic> statistics) {
  const Statistic* best = nullptr;
  for (const Statistic& statistic : statistics) {
    if (statistic.detectable <= 0) continue;
    if (best == nullptr || statistic.detectable < best->detectable) best = &statistic;
  }
  if (best == nullptr) return "as claimed";
  return "as claimed; a deviation of " + percent_text(best->detectable) +
         " would have been seen (" + best->name + ", " + best->where + ", power 0.99)";
}

namespace {

constexpr std::uint64_t pilot_streams = 8;

// Seconds that a stream of the step takes, from one; from some more where they cost little. The
// least of both: what a busy machine adds is no cost of a stream.
Result<double> seconds_of(const LadderStep& step, const Effort& effort) {
  const std::uint64_t root = test_root(effort.seed, step.where, 4);
  double each = 0;
  for (const std::uint64_t streams : {std::uint64_t{1}, pilot_streams}) {
    const double before = effort.seconds_left();
    if (each * static_cast<double>(streams) > 0.02 * before) break;
    if (const auto pilot = step.run(root, streams); !pilot) return pilot.error();
    const double seen = (before - effort.seconds_left()) / static_cast<double>(streams);
    each = streams == 1 ? seen : std::min(each, seen);
  }
  return each;
}

// The share of the steps' streams for which there is time, each step's alike: what one shows is not
// what another does. Learnt from a few streams of each; in (0, 1], and then `steps` have so many.
Result<double> fit_into_time(std::vector<LadderStep>& steps, const Effort& effort) {
  if (!effort.seconds_left) return 1.0;
  double requested = 0;
  double least = 0;
  for (LadderStep& step : steps) {
    const auto seconds = seconds_of(step, effort);
    if (!seconds) return seconds.error();
    step.seconds = *seconds;
    requested += step.seconds * static_cast<double>(step.streams);
    least += step.seconds * static_cast<double>(fewest_streams);
    if (least > effort.seconds_left()) return Error{Error::Kind::busy, "time ran out"};
  }
  constexpr double first_look = 0.7;  // the rest is for the second look at what is doubtful
  const double share = first_look * std::max(0.0, effort.seconds_left()) / requested;
  if (requested <= 0 || share >= 1) return 1.0;
  for (LadderStep& step : steps) {
    const auto fit = static_cast<std::uint64_t>(share * static_cast<double>(step.streams));
    step.streams = std::min(step.streams, std::max(fewest_streams, fit));
  }
  return share;
}

}  // namespace

StatisticalVerdict climb_steps(std::vector<LadderStep> steps,
                               const Effort& effort,
                               std::string_view law,
                               const std::function<std::string()>& diagnose) {
  const Result<double> share = fit_into_time(steps, effort);
  if (!share) return not_run(share.error().message);
  Result<Escalated> climbed = escalate(steps, law, effort.seed, law_error, effort.seconds_left);
  if (!climbed) return not_run(climbed.error().message);
  StatisticalVerdict verdict;
  if (climbed->tests == 0 && *share < 1) {
    return not_run("there was time for " + percent_text(*share) + " of the streams: too few");
  }
  if (climbed->tests == 0)
    return not_run("nothing to test: it decides about several tokens at a time, or too rarely");
  verdict.ran = true;
  verdict.statistics = std::move(climbed->statistics);
  if (!climbed->rejected) {
    verdict.sentence = finest(verdict.statistics);
    if (*share < 1) {
      verdict.sentence += "; there was time for " + percent_text(*share) + " of the streams";
    }
    return verdict;
  }
  verdict.broken = true;
  const Statistic& rejected = verdict.statistics[*climbed->rejected];
  const std::string words = diagnose ? diagnose() : std::string();
  verdict.sentence = (words.empty() ? rejected.effect : words + "; " + rejected.effect) +
                     "; test " + rejected.name + ": " + p_text(rejected.p);
  verdict.smallest = climbed->smallest->where + ", " + std::to_string(climbed->smallest->streams) +
                     " streams, seed " + std::to_string(effort.seed);
  return verdict;
}

StatisticalVerdict climb(Family& family, const Effort& effort, const Ask& ask) {
  Result<std::vector<Site>> sites = sites_of(family, ask);
  if (!sites) return not_run(sites.error().message);
  std::vector<LadderStep> steps;
  for (const Site& site : *sites) {
    steps.push_back(
        {.where = site.sampler->where(),
         .streams = streams_at(site.streams, effort, family),
         .run = [&ask, sampler = site.sampler](
                    std::uint64_t root, std::uint64_t streams) -> Result<std::vector<ChanceTest>> {
           Result<Counts> counts = count(*sampler, ask.requested, root, streams, {});
           if (!counts) return counts.error();
           return ask.tests(*counts);
         }});
  }
  // The largest of the small steps: most of what a law does shows there, and it is quick.
  const Site* telling = &sites->front();
  for (const Site& site : *sites) {
    if (site.sampler->shape().n <= 16) telling = &site;
  }
  const auto diagnose = [&]() -> std::string {
    if (!ask.diagnose) return {};
    const Result<Counts> counts =
        count(*telling->sampler, ask.requested, test_root(effort.seed, ask.law, 3),
              streams_at(2 * telling->streams, effort, family), effort.seconds_left);
    return counts ? ask.diagnose(*counts) : std::string();
  };
  return climb_steps(std::move(steps), effort, ask.law, diagnose);
}

}  // namespace kv::properties
