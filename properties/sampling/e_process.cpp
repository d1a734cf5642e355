#include "kvcheck/properties/sampling/e_process.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

// Alternatives exclude nothing, so that no single decision makes their evidence zero for good.
constexpr double rarest = 1e-6;

double kept_off_the_ends(double share) {
  return std::clamp(share, rarest, 1 - rarest);
}

}  // namespace

EProcess::EProcess(const Shape& shape, ChanceLaw law) : shape_(shape), rank_counts_(shape.k, 1.0) {
  const auto k = static_cast<double>(shape.k);
  for (std::uint32_t t = shape.k + 1; t <= shape.n; ++t) null_.push_back(acceptance(law, shape, t));
  const auto with = [&](const std::function<double(double t, double null)>& share) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < null_.size(); ++i) {
      shares.push_back(kept_off_the_ends(share(k + 1 + static_cast<double>(i), null_[i])));
    }
    return shares;
  };
  if (law != ChanceLaw::admitting) {
    add_acceptance("newcomers are kept with k/(t-1)",
                   with([&](double t, double) { return k / (t - 1); }));
    add_acceptance("newcomers are kept with k/(t+1)",
                   with([&](double t, double) { return k / (t + 1); }));
    add_acceptance("newcomers are kept with k/(k+1)",
                   with([&](double, double) { return k / (k + 1); }));
    add_acceptance("newcomers are always kept", with([](double, double) { return 1.0; }));
    // From coarse to fine: mixtures pay little for alternatives that do not help.
    for (const double factor : {0.9, 0.99, 0.998, 1.002, 1.01, 1.1}) {
      add_acceptance("newcomers are kept " + std::to_string(factor) + " times as often",
                     with([&](double, double null) { return factor * null; }));
    }
  }
  for (const double tilt : {0.01, 0.1, 0.9}) {
    std::vector<double> shares(shape.k, (1 - tilt) / k);
    shares.front() += tilt;
    add_ranks("the oldest is evicted too often", shares);
    std::ranges::reverse(shares);
    add_ranks("the newest of the older tokens is evicted too often", shares);
  }
  gone_ = k;
  learned_name_ = "what was learned on the way";
}

void EProcess::add_acceptance(std::string name, const std::vector<double>& shares) {
  Alternative alternative{.name = std::move(name), .remains = {}, .leaves = {}, .ranks = {}};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    alternative.remains.push_back(std::log(shares[i] / null_[i]));
    alternative.leaves.push_back(std::log((1 - shares[i]) / (1 - null_[i])));
  }
  alternatives_.push_back(std::move(alternative));
}

void EProcess::add_ranks(std::string name, const std::vector<double>& shares) {
  Alternative alternative{.name = std::move(name), .remains = {}, .leaves = {}, .ranks = {}};
  for (const double share : shares) {
    alternative.ranks.push_back(std::log(share * static_cast<double>(shape_.k)));
  }
  alternatives_.push_back(std::move(alternative));
}

// One number learned: how many times as often as the law says newcomers are kept. It is used before
// it is updated, so that the bet on a decision never knows its outcome. Ten pseudo-counts keep the
// first bets small.
void EProcess::learn_acceptance(std::size_t decision, bool remains) {
  const double null = null_[decision];
  if (null < 1) {
    const double factor = (kept_ + 10) / (expected_ + 10);
    const double share = kept_off_the_ends(factor * null);
    learned_acceptance_ += std::log(remains ? share / null : (1 - share) / (1 - null));
  }
  kept_ += remains ? 1 : 0;
  expected_ += null;
}

void EProcess::learn_rank(std::uint32_t rank) {
  learned_ranks_ += std::log(rank_counts_[rank] / gone_ * static_cast<double>(shape_.k));
  ++rank_counts_[rank];
  ++gone_;
}

void EProcess::add(const Replicate& replicate) {
  KV_CHECK(replicate.gone.size() == null_.size());
  for (std::size_t i = 0; i < null_.size(); ++i) {
    const std::uint32_t gone = replicate.gone[i];
    const bool remains = gone < shape_.k;
    if (!remains && null_[i] >= 1) impossible_ = std::numeric_limits<double>::infinity();
    for (Alternative& alternative : alternatives_) {
      if (!alternative.remains.empty()) {
        alternative.log_ratio += remains ? alternative.remains[i] : alternative.leaves[i];
      } else if (remains) {
        alternative.log_ratio += alternative.ranks[gone];
      }
    }
    learn_acceptance(i, remains);
    if (remains) learn_rank(gone);
  }
}

double EProcess::log_evidence() const {
  std::vector<double> logs = {learned_acceptance_, learned_ranks_};
  for (const Alternative& alternative : alternatives_) logs.push_back(alternative.log_ratio);
  // The mean of the likelihood ratios, which is a fair bet itself; the largest is taken out so that
  // nothing overflows.
  const double most = std::ranges::max(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - most);
  return impossible_ + most + std::log(sum / static_cast<double>(logs.size()));
}

// Ville's inequality: under the law the evidence ever exceeds 1/p with probability p at most.
double EProcess::p() const {
  return std::min(1.0, std::exp(-log_evidence()));
}

const std::string& EProcess::best() const {
  const auto best = std::ranges::max_element(alternatives_, {}, &Alternative::log_ratio);
  return std::max(learned_acceptance_, learned_ranks_) > best->log_ratio ? learned_name_
                                                                         : best->name;
}

}  // namespace kv::properties
