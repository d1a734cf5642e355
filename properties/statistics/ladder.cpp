#include "properties/statistics/ladder.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kv {
namespace {

constexpr std::uint64_t wanted_tokens = 12000;  // fed at the wanted size in a quick run

StatisticalVerdict not_run(const std::string& why) {
  StatisticalVerdict verdict;
  verdict.why_not = why;
  return verdict;
}

Result<Counts> count(FamilySampler& sampler,
                     const CountsWanted& wanted,
                     std::uint64_t root,
                     std::uint64_t streams) {
  Counts counts(sampler.shape(), wanted);
  if (const auto done = collect(sampler, root, 0, streams, counts); !done) return done.error();
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

// The wanted size, with about four times as many tokens as fit; in few streams.
Result<Site> wanted_site(Family& family, const Ask& ask) {
  const Setup wanted = family.wanted();
  Setup one = wanted;
  one.layers = 1;
  one.kv_heads = 1;
  one.group = 1;
  one.sequences = 1;
  Result<Contract> contract = family.contract(one);
  if (!contract) {
    one = wanted;
    contract = family.contract(one);
  }
  if (!contract) return contract.error();
  const std::uint32_t kept_out = contract->sinks + contract->recent;
  const std::uint32_t k = contract->budget > kept_out ? contract->budget - kept_out : 1;
  const std::uint32_t n = std::min(4 * k, k + 2048);
  const std::uint64_t streams = std::max<std::uint64_t>(50, wanted_tokens / (n + kept_out));
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
  Result<Site> wanted = wanted_site(family, ask);
  if (wanted) {
    const bool small = wanted->sampler->shape().n <= 4096;
    if (small || sites.empty()) sites.push_back(*std::move(wanted));
  } else if (sites.empty()) {
    return refused.empty() ? wanted.error() : Error{Error::Kind::unsupported, refused};
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
  return family.in_process() ? streams : std::max<std::uint64_t>(50, streams / 8);
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

StatisticalVerdict climb_cells(const std::vector<LadderCell>& cells,
                               const Effort& effort,
                               std::string_view law,
                               const std::function<std::string()>& diagnose) {
  Result<Escalated> climbed = escalate(cells, law, effort.seed, law_error);
  if (!climbed) return not_run(climbed.error().message);
  StatisticalVerdict verdict;
  if (climbed->tests == 0)
    return not_run("nothing to test: it decides about several tokens at a time, or too rarely");
  verdict.ran = true;
  verdict.statistics = std::move(climbed->statistics);
  if (!climbed->rejected) {
    verdict.sentence = finest(verdict.statistics);
    return verdict;
  }
  verdict.broken = true;
  const Statistic& rejected = verdict.statistics[*climbed->rejected];
  const std::string words = diagnose ? diagnose() : std::string();
  verdict.sentence = (words.empty() ? rejected.effect : words + "; " + rejected.effect) + ", " +
                     p_text(rejected.p);
  verdict.smallest = climbed->smallest->where + ", " + std::to_string(climbed->smallest->streams) +
                     " streams, seed " + std::to_string(effort.seed);
  return verdict;
}

StatisticalVerdict climb(Family& family, const Effort& effort, const Ask& ask) {
  Result<std::vector<Site>> sites = sites_of(family, ask);
  if (!sites) return not_run(sites.error().message);
  std::vector<LadderCell> cells;
  for (const Site& site : *sites) {
    cells.push_back(
        {.where = site.sampler->where(),
         .streams = streams_at(site.streams, effort, family),
         .run = [&ask, sampler = site.sampler](
                    std::uint64_t root, std::uint64_t streams) -> Result<std::vector<ChanceTest>> {
           Result<Counts> counts = count(*sampler, ask.wanted, root, streams);
           if (!counts) return counts.error();
           return ask.tests(*counts);
         }});
  }
  // The largest of the small cells: most of what a law does shows there, and it is quick.
  const Site* telling = &sites->front();
  for (const Site& site : *sites) {
    if (site.sampler->shape().n <= 16) telling = &site;
  }
  const auto diagnose = [&]() -> std::string {
    if (!ask.diagnose) return {};
    const Result<Counts> counts =
        count(*telling->sampler, ask.wanted, test_root(effort.seed, ask.law, 3),
              streams_at(2 * telling->streams, effort, family));
    return counts ? ask.diagnose(*counts) : std::string();
  };
  return climb_cells(cells, effort, ask.law, diagnose);
}

}  // namespace kv
