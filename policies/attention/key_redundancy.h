// How much each resident's key repeats those of newer residents, for rkv, whose header has the
// rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/policy.h"

namespace kv {

// State: 4 bytes for each number of a key, and 20 bytes per kv-head, per resident.
class KeyRedundancy {
 public:
  // Two keys are similar if their cosine is above `threshold`. If `exempts_first`, a key without a
  // similar one exempts the first resident, otherwise none.
  KeyRedundancy(double threshold, bool exempts_first)
      : threshold_(threshold), exempts_first_(exempts_first) {}

  // Called before add. Without it keys are compared as they are given.
  void rotate_by(const Rotator& rotator) { rotator_ = rotator; }

  // Adds the token at `position`. Cost: O(residents * key).
  void add(const HeadVectors& keys, Position position);

  // The redundancy of every resident, by rank: the mean over kv-heads, [residents]. The view holds
  // until the next call. Cost: O(residents * key); O(residents^2 * key) if keys are rotated to
  // ranks.
  std::span<const double> redundancy();

  // Cost: O(residents * heads), and O(residents * key) for each resident whose newest similar token
  // is forgotten.
  void forget(std::span<const std::size_t> ranks);

  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  static constexpr auto no_token = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t residents() const { return heads_ == 0 ? 0 : lengths_.size() / heads_; }

  [[nodiscard]] std::span<const float> key(std::size_t rank, std::size_t head) const {
    return {seen_ + (rank * heads_ + head) * dim_, dim_};
  }

  [[nodiscard]] double inverse_length(std::size_t rank, std::size_t head) const {
    return lengths_[rank * heads_ + head];
  }

  [[nodiscard]] double cosine(std::size_t a, std::size_t b, std::size_t head) const;

  void meet(std::size_t head);
  void meet_at_ranks();
  void look_for_similar(std::size_t rank, std::size_t head);
  void set_newest(std::size_t rank, std::size_t head, std::size_t newest, double likeness);
  void find_new_ranks(std::span<const std::size_t> evicted);
  void charge(std::size_t head);

  double threshold_;
  bool exempts_first_;
  Rotator rotator_;
  std::size_t dim_ = 0;    // of one head's key
  std::size_t heads_ = 0;  // kv-heads
  // By rank:
  std::vector<float> keys_;      // [residents, heads, dim]; rotated by their positions, unless
                                 // positions are ranks, which change
  std::vector<double> lengths_;  // [residents, heads]: 1 / length of a key, or 0
  std::vector<std::uint32_t>
      newest_;                    // [residents, heads]: the rank of the newest similar token, or
                                  // no_token
  std::vector<double> likeness_;  // [residents, heads]: the cosine with that token
  // Scratch: the keys that are compared, which are keys_ or those rotated to ranks.
  const float* seen_ = nullptr;
  std::vector<float> at_ranks_;
  std::vector<std::uint32_t> new_ranks_;
  std::vector<double> sum_, charges_, redundancy_;
};

}  // namespace kv
