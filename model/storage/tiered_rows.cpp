#include "kvcheck/model/storage/tiered_rows.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/kernels/numbers.h"

namespace kv::model {
namespace {

CodeKind kind_of(const KvFormat& format) {
  CodeKind kind;
  kind.bits = format.codes == KvCodes::int8 ? 8 : format.codes == KvCodes::kivi2 ? 2 : 4;
  kind.affine = format.groups_tokens();
  // With one step a vector there is no point in saving two bytes on it.
  kind.wide = format.group_size == 0;
  return kind;
}

std::size_t groups_in(std::size_t dim, std::size_t group_size) {
  return (dim + group_size - 1) / group_size;
}

}  // namespace

TieredRows::TieredRows(const KvFormat& format, bool shares, std::size_t dim)
    : shares_(shares),
      number_(static_cast<Storage>(format.full)),
      kind_(kind_of(format)),
      dim_(dim),
      group_size_(format.group_size == 0 ? dim : std::min<std::size_t>(format.group_size, dim)),
      code_bytes_(kind_.bytes(dim)),
      full_(dim * bytes_of(number_)),
      codes_(code_bytes_ + (shares ? 0 : groups_in(dim, group_size_) * kind_.step_bytes())),
      shared_(dim * kind_.step_bytes()) {
  KV_CHECK(!format.direct());
}

void TieredRows::release(Home& home) {
  if (home.tier == Tier::full) full_.give_back(home.row);
  if (home.tier == Tier::low) {
    codes_.give_back(home.row);
    if (shares_ && --users_[home.shared] == 0) shared_.give_back(home.shared);
  }
  home = {};
}

void TieredRows::put(Slot slot, const float* vector) {
  if (slot >= rows_.size()) rows_.resize(slot + 1);
  Home& home = rows_[slot];
  release(home);
  home = {Tier::full, full_.take(), 0};
  write_full(home, {vector, dim_});
}

void TieredRows::write_full(const Home& home, std::span<const float> vector) {
  std::byte* const row = full_.at(home.row);
  write_numbers(vector, number_, row);
  if (!too_large_) too_large_ = too_large_for(vector, number_, row);
}

void TieredRows::replace(Slot slot, const float* vector) {
  Home& home = rows_[slot];
  KV_CHECK(!shares_ && home.tier != Tier::none);
  if (home.tier == Tier::full) {
    write_full(home, {vector, dim_});
    return;
  }
  release(home);
  lower_alone(home, {vector, dim_});
}

void TieredRows::lower(std::span<const Slot> slots) {
  if (shares_) {
    lower_together(slots);
    return;
  }
  scratch_.resize(dim_);
  for (const Slot slot : slots) {
    // A vector is lowered once: reading codes and quantising them again would add a second error.
    if (!is_full(slot)) continue;
    read(slot, scratch_.data());
    release(rows_[slot]);
    lower_alone(rows_[slot], scratch_);
  }
}

void TieredRows::lower_alone(Home& home, std::span<const float> vector) {
  home = {Tier::low, codes_.take(), 0};
  std::byte* const codes = codes_.at(home.row);
  for (std::size_t begin = 0; begin < dim_; begin += group_size_) {
    const std::size_t end = std::min(begin + group_size_, dim_);
    const auto [least, most] = std::ranges::minmax_element(vector.subspan(begin, end - begin));
    const CodeSteps steps = code_steps(kind_, *least, *most);
    write_steps(kind_, steps, codes + code_bytes_ + group_of(begin) * kind_.step_bytes());
    for (std::size_t i = begin; i < end; ++i) {
      write_code(kind_, codes, i, nearest_code(kind_, steps, vector[i]));
    }
  }
}

void TieredRows::lower_together(std::span<const Slot> slots) {
  std::vector<Slot> lowered;
  for (const Slot slot : slots) {
    if (is_full(slot)) lowered.push_back(slot);
  }
  if (lowered.empty()) return;
  // Widened side by side: the step of a channel needs its range over all of the vectors.
  scratch_.resize(lowered.size() * dim_);
  const std::uint32_t shared = shared_.take();
  users_.resize(std::max<std::size_t>(users_.size(), shared + 1));
  users_[shared] = static_cast<std::uint32_t>(lowered.size());
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    read(lowered[i], scratch_.data() + i * dim_);
    release(rows_[lowered[i]]);
    rows_[lowered[i]] = {Tier::low, codes_.take(), shared};
  }
  for (std::size_t channel = 0; channel < dim_; ++channel) {
    float least = scratch_[channel];
    float most = least;
    for (std::size_t i = channel; i < scratch_.size(); i += dim_) {
      least = std::min(least, scratch_[i]);
      most = std::max(most, scratch_[i]);
    }
    const CodeSteps steps = code_steps(kind_, least, most);
    write_steps(kind_, steps, shared_.at(shared) + channel * kind_.step_bytes());
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      write_code(kind_, codes_.at(rows_[lowered[i]].row), channel,
                 nearest_code(kind_, steps, scratch_[i * dim_ + channel]));
    }
  }
}

CodeSteps TieredRows::steps_of(Slot slot, std::size_t channel) const {
  const Home& home = rows_[slot];
  KV_CHECK(home.tier == Tier::low);
  const std::byte* const from =
      shares_ ? shared_.at(home.shared) + channel * kind_.step_bytes()
              : codes_.at(home.row) + code_bytes_ + group_of(channel) * kind_.step_bytes();
  return read_steps(kind_, from);
}

void TieredRows::read(Slot slot, float* out) const {
  const Home& home = rows_[slot];
  KV_CHECK(home.tier != Tier::none);
  if (home.tier == Tier::full) {
    read_numbers(full_.at(home.row), number_, {out, dim_});
    return;
  }
  const std::byte* const codes = codes_.at(home.row);
  const std::size_t run = shares_ ? 1 : group_size_;
  for (std::size_t begin = 0; begin < dim_; begin += run) {
    const CodeSteps steps = steps_of(slot, begin);
    const std::size_t end = std::min(begin + run, dim_);
    for (std::size_t i = begin; i < end; ++i) {
      out[i] = coded_number(kind_, steps, read_code(kind_, codes, i));
    }
  }
}

}  // namespace kv::model
