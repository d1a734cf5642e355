#include "kvcheck/properties/statistics/diagnosis.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {
namespace {

constexpr double fits = 1e-4;  // a law with a smaller p does not

// More tokens than this make the covariance of a law slow.
constexpr std::uint32_t most_tokens = 1024;

struct Acceptance {
  std::string_view words;
  double (*share)(double k, double t);
};

constexpr std::array<Acceptance, 5> acceptances = {{
    {"newcomers are kept with k/t", [](double k, double t) { return k / t; }},
    {"newcomers are kept with k/(t-1), one too few counted",
     [](double k, double t) { return k / (t - 1); }},
    {"newcomers are kept with k/(t+1), one too many counted",
     [](double k, double t) { return k / (t + 1); }},
    {"newcomers are kept with k/(k+1) however many came before",
     [](double k, double /*t*/) { return k / (k + 1); }},
    {"newcomers are always kept", [](double /*k*/, double /*t*/) { return 1.0; }},
}};

// Pearson's sum over decisions, or infinity where what is certain did not happen.
bool acceptance_fits(const Counts& counts, const Acceptance& candidate) {
  const auto reported = static_cast<double>(counts.reported());
  double sum = 0;
  double freedom = 0;
  for (std::uint32_t i = 0; i < counts.accepted().size(); ++i) {
    const double share =
        candidate.share(counts.shape().k, static_cast<double>(counts.shape().k + 1 + i));
    const double deviation = static_cast<double>(counts.accepted()[i]) - reported * share;
    if (share >= 1) {
      if (deviation < -0.5) return false;  // counts are whole: at least one was refused
      continue;
    }
    sum += deviation * deviation / (reported * share * (1 - share));
    ++freedom;
  }
  return freedom == 0 || chi_square_tail(sum, freedom) > fits;
}

}  // namespace

std::string follows(const Counts& counts, ChanceLaw claimed) {
  const Shape& shape = counts.shape();
  const bool same = std::ranges::all_of(
      counts.kept(), [&](std::uint64_t kept) { return kept == 0 || kept == counts.streams(); });
  if (same && counts.streams() > 1) {
    const bool newest = counts.kept()[shape.n - shape.k] == counts.streams();
    const std::string kept = std::to_string(shape.k) + " tokens stay, in every stream";
    if (newest) return "nothing is drawn: the newest " + kept;
    if (counts.kept()[shape.k - 1] == counts.streams()) {
      return "nothing is drawn: the first " + kept;
    }
    return "nothing is drawn: every stream keeps the same tokens";
  }
  if (shape.n > most_tokens) return {};
  for (const ChanceLaw law : {ChanceLaw::uniform, ChanceLaw::geometric, ChanceLaw::admitting}) {
    if (law == claimed || inclusion_test(counts, law).statistic.p < fits) continue;
    if (law == ChanceLaw::uniform)
      return "every token is kept alike, with " + formula_of(law, shape);
    return "inclusion falls geometrically with age: " + formula_of(law, shape);
  }
  return {};
}

std::string accepts_like(const Counts& counts, ChanceLaw claimed) {
  if (counts.reported() == 0) return {};
  for (const Acceptance& candidate : acceptances) {
    if (!acceptance_fits(counts, candidate)) continue;
    const bool as_claimed = (claimed == ChanceLaw::uniform && &candidate == acceptances.data()) ||
                            (claimed == ChanceLaw::geometric && &candidate == &acceptances[3]) ||
                            (claimed == ChanceLaw::admitting && &candidate == &acceptances[4]);
    return as_claimed ? std::string() : std::string(candidate.words);
  }
  return {};
}

std::string evicts_like(const Counts& counts) {
  const auto ranks = counts.ranks();
  const std::uint64_t gone = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  if (gone == 0 || ranks.size() < 2) return {};
  if (ranks.front() == gone) return "the oldest is always evicted";
  if (ranks.back() == gone) return "the newest of the older tokens is always evicted";
  // By chance a given rank is never evicted with probability e^-100 at most.
  if (std::ranges::count(ranks, std::uint64_t{0}) > 0 && gone > 100 * ranks.size()) {
    return "some of the older tokens are never evicted";
  }
  return {};
}

}  // namespace kv::properties
