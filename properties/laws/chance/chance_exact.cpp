#include <algorithm>
#include <array>
#include <optional>

#include "kvcheck/properties/laws/chance/chance_measures.h"
#include "kvcheck/properties/sampling/exact.h"
#include "kvcheck/properties/sampling/ladder.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t most_runs = 50000;
constexpr std::uint64_t most_remote_runs = 1000;  // each draw is a question to another process

struct Enumerated {
  Shape shape;
  std::string where;
  ExactLaw law;
};

// All shapes with n <= most and k <= 3, smallest first, so that the first witness is the smallest.
std::vector<Shape> tiny_shapes(std::uint32_t most) {
  std::vector<Shape> shapes;
  for (std::uint32_t n = 2; n <= most; ++n) {
    for (std::uint32_t k = 1; k <= std::min(3U, n - 1); ++k) shapes.push_back({.n = n, .k = k});
  }
  return shapes;
}

Result<Enumerated> enumerate_shape(Family& family, const Shape& shape) {
  const auto sampler =
      FamilySampler::make(family, {.setup = rung_setup(shape), .chunks = {}, .entering = shape.n});
  if (!sampler) return sampler.error();
  const Shape found = (*sampler)->shape();
  // The subject's own sizes may be larger, and each further token multiplies the outcomes.
  if (found.n > 9) return Error{Error::Kind::unsupported, "the subject's sizes are not tiny"};
  return Enumerated{found, (*sampler)->where(),
                    enumerate(**sampler, family.in_process() ? most_runs : most_remote_runs)};
}

std::string worst_token(const Enumerated& found, ChanceLaw claimed) {
  const auto seen = exact_inclusions(found.law.subsets, found.shape);
  const auto right = exact_inclusions(exact_subsets(claimed, found.shape), found.shape);
  std::size_t worst = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (apart(seen[i], right[i]) > apart(seen[worst], right[worst])) worst = i;
  }
  if (seen[worst] == right[worst]) {
    return "each token is kept as often as it ought to be, but sets of tokens are not";
  }
  return "token " + std::to_string(worst + 1) + " of " + std::to_string(found.shape.n) +
         " is kept with probability " + fraction_text(seen[worst]) + " instead of " +
         fraction_text(right[worst]) + " (k=" + std::to_string(found.shape.k) +
         ", every outcome of every draw)";
}

Statistic distance_of(const Enumerated& found, ChanceLaw claimed) {
  const Rational distance = total_variation(found.law.subsets, exact_subsets(claimed, found.shape));
  return {.name = "TV",
          .what = "exact law of the kept set against " + std::string(claim_of(claimed)),
          .where = found.where + ", all " + std::to_string(found.law.runs) + " outcomes",
          .value = static_cast<double>(distance),
          .p = distance == 0 ? 1.0 : 0.0,
          .effect = "total variation distance " + fraction_text(distance),
          .rejected = distance != 0};
}

StatisticalVerdict cannot(std::string_view why) {
  StatisticalVerdict verdict;
  verdict.why_not = why;
  verdict.cannot = true;
  return verdict;
}

// Keeps the first reason why a shape is passed over: the subject refuses its sizes, or it has too
// many outcomes. A right subject may draw what cannot be enumerated, so this is no gap in the
// verdict.
void pass_over(const Result<Enumerated>& found,
               const std::string& refusal,
               StatisticalVerdict& verdict) {
  if (!verdict.why_not.empty()) return;
  verdict.why_not = refusal;
  verdict.cannot = found && found->law.by_draws;
}

}  // namespace

StatisticalVerdict measure_exact(Family& family, const Effort& effort) {
  if (!family.uses_draws()) {
    return cannot("its draws are its own: their outcomes cannot be enumerated");
  }
  if (!family.takes_sizes()) return cannot("it takes no sizes: there are no tiny cases");
  StatisticalVerdict verdict;
  const ChanceLaw claimed = claimed_law(family);
  std::uint64_t runs = 0;
  std::array<bool, 4> too_many{};  // by k: longer streams have more outcomes still
  for (const Shape& shape : tiny_shapes(effort.level == Level::quick ? 6 : 7)) {
    if (too_many[shape.k]) continue;
    if (effort.seconds_left && effort.seconds_left() <= 0) {
      if (!verdict.ran && verdict.why_not.empty()) verdict.why_not = "time ran out";
      break;
    }
    const Result<Enumerated> found = enumerate_shape(family, shape);
    const std::string refusal = found ? found->law.refusal : found.error().message;
    if (!refusal.empty()) {
      pass_over(found, refusal, verdict);
      too_many[shape.k] = found.has_value();
      continue;
    }
    runs += found->law.runs;
    verdict.ran = true;
    verdict.statistics.push_back(distance_of(*found, claimed));
    if (!verdict.statistics.back().rejected) continue;
    verdict.broken = true;
    verdict.sentence = worst_token(*found, claimed);
    verdict.smallest = found->where;
    break;  // larger witnesses say no more
  }
  if (!verdict.ran) return verdict;
  verdict.why_not.clear();
  verdict.cannot = false;
  if (!verdict.broken) {
    verdict.sentence = "exactly " + std::string(claim_of(claimed)) + " over all " +
                       std::to_string(runs) + " outcomes of " +
                       std::to_string(verdict.statistics.size()) + " tiny sizes";
  }
  return verdict;
}

}  // namespace kv::properties
