#include "kvcheck/policies/content/keydiff.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Keydiff final : public Policy {
 public:
  explicit Keydiff(bool rotated) : rotated_(rotated) {}

  [[nodiscard]] Needs needs() const override { return {.keys = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    if (rotated_) rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    width_ = observation.keys.numbers.size();
    key_.assign(observation.keys.numbers.begin(), observation.keys.numbers.end());
    // A position never changes, so its rotation is done once; ranks change and are applied at a
    // trim.
    if (!rotator_.at_ranks()) rotator_.rotate_to(observation.query, dim_, key_);
    for (std::size_t head = 0; head < width_; head += dim_) {
      const auto key = std::span<const float>(key_).subspan(head, dim_);
      const double norm = norm_of(key);
      for (const float number : key) {
        // Stored as floats to halve the state; a key of length 0 becomes a zero vector.
        units_.push_back(norm > 0 ? static_cast<float>(static_cast<double>(number) / norm) : 0.0F);
      }
    }
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK((candidates.first_rank + n) * width_ <= units_.size());
    if (rotator_.moves()) {
      at_ranks_ = units_;
      rotator_.rotate_to_ranks(dim_, width_, width_, at_ranks_);
    }
    const std::vector<float>& units = rotator_.moves() ? at_ranks_ : units_;
    find_anchor(units);
    scores_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      scores_[i] = -likeness(units.data() + (candidates.first_rank + i) * width_);
    }
    append_lowest(std::span<const double>(scores_), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_rows(units_, ranks, width_); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Keydiff>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(dim_);
    writer.put(width_);
    writer.put(units_);
  }

  void load(ByteReader& reader) override {
    dim_ = reader.get<std::size_t>();
    width_ = reader.get<std::size_t>();
    reader.get(units_);
  }

 private:
  // The sum of all unit keys, head by head. Its length does not change the order of cosines within
  // a head. It would weight the heads in their mean, so each head's anchor is scaled to unit
  // length.
  void find_anchor(const std::vector<float>& units) {
    anchor_.assign(width_, 0);
    for (std::size_t i = 0; i < units.size(); i += width_) {
      kernels().add_to_double(anchor_.data(), units.data() + i, width_);
    }
    for (std::size_t head = 0; head < width_; head += dim_) {
      double square = 0;
      for (std::size_t i = head; i < head + dim_; ++i) square += anchor_[i] * anchor_[i];
      const double norm = std::sqrt(square);
      for (std::size_t i = head; i < head + dim_ && norm > 0; ++i) anchor_[i] /= norm;
    }
  }

  // The sum of the heads' cosines, which has the order of their mean.
  [[nodiscard]] double likeness(const float* unit) const {
    return kernels().dot_weights(unit, anchor_.data(), width_);
  }

  bool rotated_;
  Rotator rotator_;              // rotates nothing unless rotated_
  std::size_t dim_ = 0;          // of one head's key
  std::size_t width_ = 0;        // of all heads'
  std::vector<float> units_;     // [residents, width], by rank: keys as unit vectors; rotated by
                                 // their positions, unless positions are ranks, which change
  std::vector<float> key_;       // scratch: the newest key
  std::vector<float> at_ranks_;  // scratch: units_ rotated to ranks
  std::vector<double> anchor_;   // scratch: [width]
  std::vector<double> scores_;   // scratch
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto parameters = std::array<Parameter, 1>{key_scores};

}  // namespace

std::unique_ptr<Policy> make_keydiff(bool rotated) {
  return std::make_unique<Keydiff>(rotated);
}

PolicyEntry keydiff_policy() {
  return {.name = "keydiff",
          .summary = "Evicts the tokens whose keys are most similar to the mean key.",
          .protection = {},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Park et al., \"KeyDiff: Key Similarity-Based KV Cache Eviction for "
              "Long-Context LLM Inference in Resource-Constrained Environments\", "
              "arXiv:2504.15364; code NVIDIA/kvpress, KeyDiffPress",
          .differs =
              "Cosines are averaged over a unit's kv-heads; in the source each kv-head is a unit. "
              "Of equal scores the older token is evicted; in the source torch.topk decides.",
          .cost = "O(residents * key) time a trim; 4 bytes for each number of a key per resident",
          .make = [](const Options& options) { return make_keydiff(scores_are_rotated(options)); }};
}

}  // namespace kv
