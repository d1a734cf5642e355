#include <memory>
#include <utility>

#include "kvcheck/properties/laws/chance/chance_measures.h"
#include "kvcheck/properties/sampling/ladder.h"
#include "kvcheck/properties/statistics/independence.h"

namespace kv::properties {
namespace {

constexpr std::uint32_t layers = 3;
constexpr std::uint32_t heads = 3;
constexpr std::uint32_t neighbours = 8;  // seeds in a row
constexpr Shape shape = {.n = 16, .k = 4};
constexpr std::uint64_t unit_streams = 300;  // of all layers and heads, in a quick run
constexpr std::uint64_t seed_groups = 150;
constexpr std::uint64_t diagonal_groups = 300;

using Groups = std::vector<std::vector<std::vector<std::uint32_t>>>;
using GroupsOf = std::function<Groups(std::vector<Replicate>& units)>;

// The kept sets of units at these indices, taken out of `units`.
std::vector<std::vector<std::uint32_t>> sets_at(std::vector<Replicate>& units,
                                                std::uint32_t first,
                                                std::uint32_t step,
                                                std::uint32_t count) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (std::uint32_t i = 0; i < count; ++i) {
    sets.push_back(std::move(units[first + std::size_t{i} * step].kept));
  }
  return sets;
}

Groups by_layer(std::vector<Replicate>& units) {
  Groups groups;
  for (std::uint32_t first = 0; first < units.size(); first += heads) {
    groups.push_back(sets_at(units, first, 1, heads));
  }
  return groups;
}

Groups by_head(std::vector<Replicate>& units) {
  Groups groups;
  const auto owners = static_cast<std::uint32_t>(units.size() / heads);
  for (std::uint32_t head = 0; head < heads; ++head) {
    groups.push_back(sets_at(units, head, heads, owners));
  }
  return groups;
}

// Draws a stream and keeps the units of layers that store rows: others repeat them.
Result<void> sample_owners(FamilySampler& sampler,
                           std::uint64_t seed,
                           std::vector<Replicate>& units) {
  if (auto done = sampler.sample_units(seed, units); !done) return done.error();
  if (!sampler.contract().shares_rows()) return {};
  std::vector<Replicate> owned;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const auto layer = static_cast<std::uint32_t>(unit / heads);
    if (sampler.contract().owns_rows(layer)) owned.push_back(std::move(units[unit]));
  }
  units = std::move(owned);
  return {};
}

std::uint32_t owners_of(const Contract& contract) {
  std::uint32_t owners = 0;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    if (contract.owns_rows(layer)) ++owners;
  }
  return owners;
}

struct Requested {
  std::string between;
  ChanceLaw law;
  std::uint64_t streams;
};

LadderStep step_of(const std::shared_ptr<FamilySampler>& sampler,
                   const Requested& requested,
                   std::function<Result<Overlaps>(std::uint64_t root, std::uint64_t streams)> run) {
  return {.where = requested.between + ", " + sampler->where(),
          .streams = requested.streams,
          .run = [requested, run = std::move(run)](
                     std::uint64_t root, std::uint64_t streams) -> Result<std::vector<ChanceTest>> {
            const Result<Overlaps> overlaps = run(root, streams);
            if (!overlaps) return overlaps.error();
            return std::vector<ChanceTest>{
                independence_test(*overlaps, requested.law, requested.between)};
          }};
}

// Units of one stream against each other.
LadderStep unit_step(const std::shared_ptr<FamilySampler>& sampler,
                     const Requested& requested,
                     std::uint32_t members,
                     Groups (*groups_of)(std::vector<Replicate>&)) {
  return step_of(sampler, requested,
                 [=](std::uint64_t root, std::uint64_t streams) -> Result<Overlaps> {
                   Overlaps overlaps(sampler->shape(), members);
                   std::vector<Replicate> units;
                   for (std::uint64_t r = 0; r < streams; ++r) {
                     const auto done = sample_owners(*sampler, stream_seed(root, r), units);
                     if (!done) return done.error();
                     for (const auto& group : groups_of(units)) overlaps.add(group);
                   }
                   return overlaps;
                 });
}

// Streams of neighbouring integers as seeds, which are what people type.
LadderStep seed_step(const std::shared_ptr<FamilySampler>& sampler, const Requested& requested) {
  return step_of(sampler, requested,
                 [=](std::uint64_t root, std::uint64_t streams) -> Result<Overlaps> {
                   Overlaps overlaps(sampler->shape(), neighbours);
                   // Of 31 bits, so that counting on from it never wraps.
                   std::uint64_t seed = root >> 33U;
                   Replicate replicate;
                   for (std::uint64_t r = 0; r < streams; ++r) {
                     std::vector<std::vector<std::uint32_t>> sets;
                     for (std::uint32_t i = 0; i < neighbours; ++i) {
                       const auto done = sampler->sample(seed++, replicate);
                       if (!done) return done.error();
                       sets.push_back(replicate.kept);
                     }
                     overlaps.add(sets);
                   }
                   return overlaps;
                 });
}

// One unit with a seed against the unit before it with the next: what seed + unit would confuse.
LadderStep diagonal_step(const std::shared_ptr<FamilySampler>& sampler,
                         const Requested& requested) {
  return step_of(sampler, requested,
                 [=](std::uint64_t root, std::uint64_t streams) -> Result<Overlaps> {
                   Overlaps overlaps(sampler->shape(), 2);
                   std::uint64_t seed = root >> 33U;
                   std::vector<Replicate> before;
                   std::vector<Replicate> now;
                   if (auto done = sample_owners(*sampler, seed, before); !done) {
                     return done.error();
                   }
                   for (std::uint64_t r = 0; r < streams; ++r) {
                     if (auto done = sample_owners(*sampler, ++seed, now); !done) {
                       return done.error();
                     }
                     // No kept set is in two pairs, so that the pairs are independent.
                     for (std::size_t unit = 0; unit + 1 < now.size(); unit += 2) {
                       overlaps.add(std::vector{before[unit + 1].kept, now[unit].kept});
                     }
                     std::swap(before, now);
                   }
                   return overlaps;
                 });
}

Result<std::shared_ptr<FamilySampler>> sampler_of(Family& family, const Setup& setup) {
  auto sampler = FamilySampler::make(family, {.setup = setup, .chunks = {}, .entering = shape.n});
  if (!sampler) return sampler.error();
  return std::shared_ptr<FamilySampler>(*std::move(sampler));
}

// A family of fixed size is measured at its own, if that has the layers and heads.
Setup setup_of(const Family& family, std::uint32_t layer_count, std::uint32_t head_count) {
  if (!family.takes_sizes()) return family.requested();
  Setup setup = rung_setup(shape);
  setup.layers = layer_count;
  setup.kv_heads = head_count;
  return setup;
}

}  // namespace

StatisticalVerdict measure_independence(Family& family, const Effort& effort) {
  const ChanceLaw law = claimed_law(family);
  StatisticalVerdict verdict;
  std::vector<LadderStep> steps;
  const auto one = sampler_of(family, setup_of(family, 1, 1));
  if (!one) {
    verdict.why_not = one.error().message;
    return verdict;
  }
  steps.push_back(
      seed_step(*one, {"neighbouring seeds", law, streams_at(seed_groups, effort, family)}));
  const auto many = family.takes_sizes() ? sampler_of(family, setup_of(family, layers, heads))
                                         : Result<std::shared_ptr<FamilySampler>>(Error{});
  if (many) {
    const Unit unit = (*many)->contract().unit;
    const std::uint64_t streams = streams_at(unit_streams, effort, family);
    if (unit == Unit::head || unit == Unit::kv_head) {
      steps.push_back(unit_step(*many, {"heads", law, streams}, heads, by_layer));
    }
    const std::uint32_t owners = owners_of((*many)->contract());
    if (unit != Unit::model && owners > 1) {
      steps.push_back(unit_step(*many, {"layers", law, streams}, owners, by_head));
    }
    if (unit == Unit::head || unit == Unit::kv_head) {
      steps.push_back(diagonal_step(*many, {"neighbouring seeds and heads", law,
                                            streams_at(diagonal_groups, effort, family)}));
    }
  }
  return climb_steps(steps, effort, "chance.independence", {});
}

}  // namespace kv::properties
