// An e-process: evidence against a law of chance that may be looked at after every stream, and
// carried from night to night.
//
// For each decision it multiplies likelihood ratios of "the newcomer was kept" and of the age-rank
// of the evicted older token, against a fixed set of alternatives and two that learn from what has
// been seen; E is their mean. While the law is true E is a non-negative martingale from 1, so that
// P(E ever >= 1/alpha) <= alpha, whenever one stops. Source: Ville's inequality; Ramdas, Grunwald,
// Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference", Statistical
// Science 38(4), 2023.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/properties/statistics/counts.h"

namespace kv::properties {

class EProcess {
 public:
  EProcess(const Shape& shape, ChanceLaw law);

  // Requires the decisions of `replicate`.
  void add(const Replicate& replicate);

  // ln E. Infinite once what the law excludes has happened.
  [[nodiscard]] double log_evidence() const;

  // min(1, 1/E), a p-value at any time.
  [[nodiscard]] double p() const;

  // The alternative with the most evidence: "newcomers are kept with k/(t-1)".
  [[nodiscard]] const std::string& best() const;

 private:
  // What an alternative multiplies in, as logarithms.
  struct Alternative {
    std::string name;
    std::vector<double> remains;  // [n - k], of a kept newcomer; empty: not about newcomers
    std::vector<double> leaves;   // [n - k], of an evicted newcomer
    std::vector<double> ranks;    // [k], of an evicted older token; empty: not about them
    double log_ratio = 0;
  };

  void add_acceptance(std::string name, const std::vector<double>& shares);
  void add_ranks(std::string name, const std::vector<double>& shares);
  void learn_acceptance(std::size_t decision, bool remains);
  void learn_rank(std::uint32_t rank);

  Shape shape_;
  std::vector<double> null_;  // [n - k]
  std::vector<Alternative> alternatives_;
  double impossible_ = 0;  // +infinity once what the law excludes has happened

  // What the two that learn have seen.
  double learned_acceptance_ = 0;
  double learned_ranks_ = 0;
  double kept_ = 0;
  double expected_ = 0;
  std::vector<double> rank_counts_;
  double gone_ = 0;
  std::string learned_name_;
};

}  // namespace kv::properties
