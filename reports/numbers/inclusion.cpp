#include "kvcheck/reports/numbers/inclusion.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

bool claims(const Spec& spec, std::string_view claim) {
  return std::ranges::find(spec.policy->claims, claim) != spec.policy->claims.end();
}

// The first position of the recent window after the last chunk, without regard to sinks.
std::uint64_t released(const Spec& spec, std::uint64_t tokens) {
  const std::uint64_t chunk = std::max<std::uint64_t>(1, spec.chunk);
  if (spec.visibility == Visibility::window || spec.timing == Timing::attend_then_trim) {
    return tokens - std::min<std::uint64_t>(tokens, spec.recent);
  }
  const std::uint64_t last = tokens % chunk == 0 ? chunk : tokens % chunk;
  if (spec.timing == Timing::trim_then_attend) {
    // Room was made before the last chunk arrived, so no token of that chunk has left the window.
    const std::uint64_t kept = std::max<std::uint64_t>(spec.recent, last);
    return tokens - std::min(tokens, kept);
  }
  // Lazy trims depend on how many rows have gathered, so the chunks are followed one by one. The
  // window moves only when a trim happens.
  std::uint64_t stored = 0;
  std::uint64_t tail = 0;
  for (std::uint64_t seen = 0; seen < tokens;) {
    const std::uint64_t step = std::min(chunk, tokens - seen);
    seen += step;
    stored += step;
    if (stored <= std::uint64_t{spec.budget} + spec.slack) continue;
    stored = std::min<std::uint64_t>(stored, spec.budget);
    tail = seen - std::min<std::uint64_t>(seen, spec.recent);
  }
  return tail;
}

}  // namespace

std::uint64_t entered_at_end(const Spec& spec, std::size_t tokens) {
  if (!spec.bounded()) return 0;
  const std::uint64_t tail = released(spec, tokens);
  return tail - std::min<std::uint64_t>(tail, spec.sinks);
}

InclusionLaw inclusion_law(const Spec& spec) {
  if (!spec.bounded() || spec.middle() == 0) return InclusionLaw::none;
  if (claims(spec, "uniform")) return InclusionLaw::uniform;
  if (claims(spec, "age-geometric")) {
    return claims(spec, "admits-newcomers") ? InclusionLaw::admitting : InclusionLaw::geometric;
  }
  return InclusionLaw::none;
}

std::vector<double> inclusion_theory(const Spec& spec, std::uint64_t entered) {
  const InclusionLaw law = inclusion_law(spec);
  if (law == InclusionLaw::none) return {};
  const std::uint64_t capacity = spec.middle();
  std::vector<double> theory(entered, 1.0);
  if (entered <= capacity) return theory;
  const auto k = static_cast<double>(capacity);
  // A newcomer takes part in its own decision unless the policy admits every newcomer.
  const std::uint64_t own = law == InclusionLaw::admitting ? 1 : 0;
  // The probability that one decision does not evict a given token.
  const double survival = law == InclusionLaw::admitting ? (k - 1) / k : k / (k + 1);
  for (std::uint64_t i = 0; i < entered; ++i) {
    const auto decisions = static_cast<double>(entered - std::max(i + own, capacity));
    theory[i] = law == InclusionLaw::uniform ? k / static_cast<double>(entered)
                                             : std::pow(survival, decisions);
  }
  return theory;
}

}  // namespace kv::reports
