#include "kvcheck/sim/oracle/oracle.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// For each eviction the query before which it happens, in order.
std::vector<std::size_t> evictions_of(std::span<const std::uint32_t> limits) {
  std::vector<std::size_t> evictions;
  std::size_t held = 0;
  for (std::size_t query = 0; query < limits.size(); ++query) {
    KV_CHECK(limits[query] >= 1);
    ++held;
    for (; held > limits[query]; --held) evictions.push_back(query);
  }
  return evictions;
}

// A matching of evictions with tokens, whose cost remains the least while evictions are added in
// order of time.
class Matching {
 public:
  Matching(const FutureMass& masses, const std::vector<std::size_t>& evictions)
      : masses_(masses),
        evictions_(evictions),
        prices_(masses.tokens()),
        distances_(masses.tokens()),
        token_of_(evictions.size(), none),
        eviction_of_(masses.tokens(), none) {}

  // Adds the next eviction, by the shortest augmenting path from it to a token without an eviction.
  void add(std::size_t eviction);

  // A lower bound on the cost of all matchings, by the prices alone.
  [[nodiscard]] double proven_cost();

  [[nodiscard]] double cost() const {
    double sum = 0;
    for (std::size_t e = 0; e < evictions_.size(); ++e) sum += costs(e)[token_of_[e]];
    return sum;
  }

  [[nodiscard]] const std::vector<std::size_t>& token_of() const { return token_of_; }

 private:
  // One eviction that the search has reached, and the matched token through which it was reached.
  struct Reached {
    std::size_t eviction = 0;
    double base = 0;  // a token's distance through it is base + (cost - price)
    std::size_t token = 0;
    double distance = 0;  // the token's
    double price = 0;     // the token's, which is closed (minus infinity) during the search
  };

  // [tokens below the eviction's query]
  [[nodiscard]] std::span<const double> costs(std::size_t eviction) const {
    const std::size_t query = evictions_[eviction];
    return masses_.from(query).first(query);
  }

  // Relaxes the distances of the tokens with a cost. Returns the nearest of the first `tokens`.
  std::size_t nearest(std::span<const double> cost, double base, std::size_t tokens);

  // The reached eviction that gave the token its distance. The comparison is exact, because the
  // kernel computes distances by the same operations; no predecessors need to be stored.
  [[nodiscard]] const Reached& origin(std::size_t token, double price, double distance) const;
  void augment(std::size_t token, double distance);

  const FutureMass& masses_;
  const std::vector<std::size_t>& evictions_;
  std::vector<double> prices_;     // per token, never above 0
  std::vector<double> distances_;  // per token; infinite once it was passed
  std::vector<std::size_t> token_of_;
  std::vector<std::size_t> eviction_of_;
  std::vector<Reached> reached_;  // the first is the eviction to be added
};

// An eviction before the one to be added could take fewer tokens than it.
std::size_t Matching::nearest(std::span<const double> cost, double base, std::size_t tokens) {
  const std::size_t near =
      kernels().relax(cost.data(), prices_.data(), base, cost.size(), distances_.data());
  if (cost.size() == tokens) return near;
  const std::size_t other =
      kernels().argmin_double(distances_.data() + cost.size(), tokens - cost.size()) + cost.size();
  return distances_[other] < distances_[near] ? other : near;
}

void Matching::add(std::size_t eviction) {
  const std::size_t tokens = costs(eviction).size();
  std::fill_n(distances_.begin(), tokens, infinite);
  reached_.assign(1, {.eviction = eviction, .token = none});
  while (true) {
    const Reached& last = reached_.back();
    const std::span<const double> cost = costs(last.eviction);
    const std::size_t token = nearest(cost, last.base, tokens);
    const double distance = distances_[token];
    KV_CHECK(distance < infinite);
    const std::size_t owner = eviction_of_[token];
    if (owner == none) return augment(token, distance);
    const double base = distance - (costs(owner)[token] - prices_[token]);
    reached_.push_back({owner, base, token, distance, prices_[token]});
    // Closes the token: its distance is infinite from now on, and no relaxation can lower it.
    prices_[token] = -infinite;
    distances_[token] = infinite;
  }
}

const Matching::Reached& Matching::origin(std::size_t token, double price, double distance) const {
  for (const Reached& reached : reached_) {
    const std::span<const double> cost = costs(reached.eviction);
    if (token < cost.size() && reached.base + (cost[token] - price) == distance) return reached;
  }
  KV_CHECK(false);
}

void Matching::augment(std::size_t token, double distance) {
  // The path is traced before prices change, because origin() needs the prices of the search.
  std::size_t taken = token;
  const Reached* from = &origin(token, prices_[token], distance);
  while (true) {
    token_of_[from->eviction] = taken;
    eviction_of_[taken] = from->eviction;
    if (from->token == none) break;
    taken = from->token;
    from = &origin(taken, from->price, from->distance);
  }
  for (std::size_t i = 1; i < reached_.size(); ++i) {
    // Distances only grow along the search, except for rounding, which must not make a price
    // positive.
    const double change = std::min(reached_[i].distance - distance, 0.0);
    prices_[reached_[i].token] = reached_[i].price + change;
  }
}

double Matching::proven_cost() {
  double sum = std::accumulate(prices_.begin(), prices_.end(), 0.0);
  // The bound holds only for such prices, so this is checked and not assumed.
  for (const double price : prices_) KV_CHECK(price <= 0);
  for (std::size_t e = 0; e < evictions_.size(); ++e) {
    const std::span<const double> cost = costs(e);
    std::fill_n(distances_.begin(), cost.size(), infinite);
    sum += distances_[nearest(cost, 0, cost.size())];
  }
  return sum;
}

}  // namespace

std::optional<Optimum> irrevocable_optimum(const FutureMass& masses,
                                           std::span<const std::uint32_t> limits,
                                           const std::function<bool()>& go_on) {
  const std::size_t tokens = masses.tokens();
  KV_CHECK(limits.size() == tokens);
  const std::vector<std::size_t> evictions = evictions_of(limits);
  Matching matching(masses, evictions);
  for (std::size_t e = 0; e < evictions.size(); ++e) {
    if (go_on && !go_on()) return std::nullopt;
    matching.add(e);
  }
  Optimum optimum;
  optimum.bound = masses.total() - matching.proven_cost();
  optimum.reached = masses.total() - matching.cost();
  KV_CHECK(optimum.bound - optimum.reached <= oracle_gap * masses.total());
  optimum.evicted_at.assign(tokens, static_cast<Position>(tokens + 1));
  for (std::size_t e = 0; e < evictions.size(); ++e) {
    optimum.evicted_at[matching.token_of()[e]] = static_cast<Position>(evictions[e]);
  }
  return optimum;
}

double PerStepTop::retained(std::span<const double> mass, std::uint32_t limit) {
  KV_CHECK(limit >= 1 && !mass.empty());
  const std::size_t top = std::min<std::size_t>(limit, mass.size()) - 1;
  others_.assign(mass.begin(), mass.end() - 1);
  // Sorted, so that the order of the sum does not depend on the library's selection algorithm.
  std::ranges::partial_sort(others_, others_.begin() + static_cast<std::ptrdiff_t>(top),
                            std::greater<>());
  return std::accumulate(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(top),
                         mass.back());
}

GreedyCache::GreedyCache(std::vector<double> future, std::span<const std::uint32_t> limits)
    : future_(std::move(future)), limits_(limits.begin(), limits.end()) {
  KV_CHECK(future_.size() == limits_.size());
}

double GreedyCache::next(std::span<const double> mass) {
  const std::size_t query = mass.size() - 1;
  KV_CHECK(query < limits_.size());
  if (held_.size() + 1 > limits_[query]) drop(held_.size() + 1 - limits_[query]);
  held_.push_back(static_cast<Position>(query));
  double retained = 0;
  for (const Position token : held_) retained += mass[token];
  for (std::size_t token = 0; token <= query; ++token) future_[token] -= mass[token];
  return retained;
}

void GreedyCache::drop(std::size_t count) {
  // Among equals the older token is evicted.
  const auto less = [&](Position a, Position b) {
    return future_[a] < future_[b] || (future_[a] == future_[b] && a < b);
  };
  order_ = held_;
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::nth_element(order_, end - 1, less);
  std::sort(order_.begin(), end);
  std::vector<Position> kept;
  kept.reserve(held_.size());
  std::set_difference(held_.begin(), held_.end(), order_.begin(), end, std::back_inserter(kept));
  held_ = std::move(kept);
}

}  // namespace kv
