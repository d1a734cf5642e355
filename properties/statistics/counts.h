// Counts: all that the statistics need of many independent streams. Integers only, so that sums do
// not depend on the order or on threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/properties/statistics/chance_law.h"

namespace kv::properties {

// What one stream came to.
struct Replicate {
  std::vector<std::uint32_t> kept;  // [k], tokens in the middle at the end, increasing

  // [n - k], the victim of each decision: an index among the k older tokens by age (0: the oldest),
  // or k: the newcomer. Empty where decisions cannot be separated (several in one call).
  std::vector<std::uint32_t> gone;
};

struct CountsRequested {
  bool pairs = false;
  bool subsets = false;  // requires few: see subset_count
};

class Counts {
 public:
  Counts(const Shape& shape, const CountsRequested& requested);

  // Requires k tokens below n in `kept`, and n - k decisions or none in `gone`.
  void add(const Replicate& replicate);

  // Adds the streams of other counts of the same shape and requests.
  void merge(const Counts& other);

  [[nodiscard]] const Shape& shape() const { return shape_; }

  [[nodiscard]] std::uint64_t streams() const { return streams_; }

  // [n], streams that kept each token.
  [[nodiscard]] std::span<const std::uint64_t> kept() const { return kept_; }

  // Streams that kept i and j, i < j. Requires pairs to be requested.
  [[nodiscard]] std::uint64_t pair(std::uint32_t i, std::uint32_t j) const;

  [[nodiscard]] bool has_pairs() const { return !pairs_.empty(); }

  // Streams whose decisions were reported.
  [[nodiscard]] std::uint64_t reported() const { return reported_; }

  // [n - k], of them those that kept the newcomer, by decision.
  [[nodiscard]] std::span<const std::uint64_t> accepted() const { return accepted_; }

  // [k], how often the older token of each age-rank was evicted, over all decisions.
  [[nodiscard]] std::span<const std::uint64_t> ranks() const { return ranks_; }

  // [subset_count], by subset_index; empty if not requested.
  [[nodiscard]] std::span<const std::uint64_t> subsets() const { return subsets_; }

 private:
  [[nodiscard]] std::size_t pair_index(std::uint32_t i, std::uint32_t j) const;

  Shape shape_;
  std::uint64_t streams_ = 0;
  std::uint64_t reported_ = 0;
  std::vector<std::uint64_t> kept_;
  std::vector<std::uint32_t> pairs_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::uint64_t> ranks_;
  std::vector<std::uint64_t> subsets_;
};

// Subsets of k among n tokens, and the place of one in the order of the colexicographic list.
// Requires n <= 32.
std::uint64_t subset_count(const Shape& shape);
std::uint64_t subset_index(std::span<const std::uint32_t> kept);

}  // namespace kv::properties
