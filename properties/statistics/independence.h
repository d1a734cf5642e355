// Independence: do several reservoirs keep each other's tokens more, or less, often than chance?
//
// M sets of a group (the heads of a layer, the layers of a head, neighbouring seeds) overlap in
// sum |S and S'| over their pairs. Under `uniform` T1 of a group is n - 1 plus 2/(M c) times the
// overlap beyond its mean, so that the deviate of the summed overlap is that of the summed T1:
// (sum T1 - R (n-1)) / sqrt(2 R (n-1) (1 - 1/M)). Here its mean and variance are exact for every
// law, from the law's inclusion and pair probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {

class Overlaps {
 public:
  // Groups of `members` sets, at least 2.
  Overlaps(const Shape& shape, std::uint32_t members);

  // One group: its sets, increasing, below n.
  void add(std::span<const std::vector<std::uint32_t>> sets);

  [[nodiscard]] const Shape& shape() const { return shape_; }

  [[nodiscard]] std::uint32_t members() const { return members_; }

  [[nodiscard]] std::uint64_t groups() const { return groups_; }

  [[nodiscard]] std::uint64_t shared() const { return shared_; }  // over all pairs of all groups

 private:
  Shape shape_;
  std::uint32_t members_;
  std::uint64_t groups_ = 0;
  std::uint64_t shared_ = 0;
  std::vector<std::uint32_t> holders_;  // scratch, [n]
};

// Z, two-sided: sharing draws gives too much overlap, stratifying them too little. `between` names
// the members: "heads". Detectable: the correlation of two members' inclusions (1: copies).
ChanceTest independence_test(const Overlaps& overlaps, ChanceLaw law, std::string_view between);

}  // namespace kv::properties
