// One kv-head's keys, or its values, in two tiers: as they were fed, and as codes.
//
// A vector is put in full precision and lowered to codes later, once: alone, with a step per
// quantisation group of its channels; or together with others, with a step per channel that these
// share (KIVI's keys). Shared steps are kept until the last of the vectors that were lowered
// together has left. A vector is discarded when its slot is written again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/model/kernels/group_codes.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/model/storage/row_pool.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/spec/kv_format.h"

namespace kv::model {

class TieredRows {
 public:
  // `shares`: vectors are lowered together. Requires codes, and a format that is not direct.
  TieredRows(const KvFormat& format, bool shares, std::size_t dim);

  // Stores a vector [dim] in full precision.
  void put(Slot slot, const float* vector);

  // Quantises those of these vectors that are in full precision, together if they share.
  void lower(std::span<const Slot> slots);

  // Puts another vector in the home of one, in its tier. Requires that none shares steps.
  void replace(Slot slot, const float* vector);

  // The first number that full precision could not hold.
  [[nodiscard]] std::optional<float> too_large() const { return too_large_; }

  [[nodiscard]] bool is_full(Slot slot) const { return rows_[slot].tier == Tier::full; }

  // The vector in a slot, widened to [dim].
  void read(Slot slot, float* out) const;

  // The step and the zero point of a number. Requires that its vector is lowered.
  [[nodiscard]] CodeSteps steps_of(Slot slot, std::size_t channel) const;

  // Bytes of the most rows that were held at once: numbers, codes, steps and zero points. The table
  // from slots to rows is not counted, as slots are nowhere, nor room that no row has used yet.
  [[nodiscard]] std::size_t bytes() const {
    return full_.bytes() + codes_.bytes() + shared_.bytes();
  }

 private:
  enum class Tier : std::uint8_t { none, full, low };

  struct Home {
    Tier tier = Tier::none;
    std::uint32_t row = 0;     // of full_ or codes_
    std::uint32_t shared = 0;  // of shared_, where steps are shared
  };

  void release(Home& home);
  void write_full(const Home& home, std::span<const float> vector);
  void lower_alone(Home& home, std::span<const float> vector);
  void lower_together(std::span<const Slot> slots);

  [[nodiscard]] std::size_t group_of(std::size_t channel) const { return channel / group_size_; }

  bool shares_;
  Storage number_;
  CodeKind kind_;
  std::size_t dim_;
  std::size_t group_size_;  // channels
  std::size_t code_bytes_;  // of a vector's codes, which its own steps follow
  std::vector<Home> rows_;
  RowPool full_;
  RowPool codes_;
  RowPool shared_;                    // steps of all channels
  std::vector<std::uint32_t> users_;  // of each row of shared_
  std::optional<float> too_large_;
  std::vector<float> scratch_;
};

}  // namespace kv::model
