#include "kvcheck/policies/attention/key_redundancy.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/rows.h"

namespace kv {

void KeyRedundancy::add(const HeadVectors& keys, Position position) {
  dim_ = keys.dim;
  heads_ = keys.heads();
  keys_.insert(keys_.end(), keys.numbers.begin(), keys.numbers.end());
  const std::span<float> newest = std::span(keys_).last(heads_ * dim_);
  if (!rotator_.at_ranks()) rotator_.rotate_to(position, dim_, newest);
  for (std::size_t head = 0; head < heads_; ++head) {
    const double norm = norm_of(newest.subspan(head * dim_, dim_));
    lengths_.push_back(norm > 0 ? 1 / norm : 0);
  }
  newest_.resize(lengths_.size(), no_token);
  likeness_.resize(lengths_.size());
  seen_ = keys_.data();
  for (std::size_t head = 0; head < heads_ && !rotator_.moves(); ++head) meet(head);
}

std::span<const double> KeyRedundancy::redundancy() {
  seen_ = keys_.data();
  if (rotator_.moves()) meet_at_ranks();
  redundancy_.assign(residents(), 0);
  for (std::size_t head = 0; head < heads_; ++head) charge(head);
  for (double& value : redundancy_) value /= static_cast<double>(heads_);
  return redundancy_;
}

void KeyRedundancy::forget(std::span<const std::size_t> ranks) {
  find_new_ranks(ranks);
  erase_rows(keys_, ranks, heads_ * dim_);
  erase_rows(lengths_, ranks, heads_);
  erase_rows(newest_, ranks, heads_);
  erase_rows(likeness_, ranks, heads_);
  if (rotator_.moves()) return;
  seen_ = keys_.data();
  // Only now: the search must not find tokens that are evicted by the same call.
  for (std::size_t at = 0; at < newest_.size(); ++at) {
    if (newest_[at] == no_token) continue;
    newest_[at] = new_ranks_[newest_[at]];
    if (newest_[at] == no_token) look_for_similar(at / heads_, at % heads_);
  }
}

void KeyRedundancy::save(ByteWriter& writer) const {
  writer.put(dim_);
  writer.put(heads_);
  writer.put(keys_);
  writer.put(lengths_);
  writer.put(newest_);
  writer.put(likeness_);
}

void KeyRedundancy::load(ByteReader& reader) {
  dim_ = reader.get<std::size_t>();
  heads_ = reader.get<std::size_t>();
  reader.get(keys_);
  reader.get(lengths_);
  reader.get(newest_);
  reader.get(likeness_);
}

// Symmetric to the last bit, so that two tokens have the same cosine both ways; 0 for a key of
// length 0.
double KeyRedundancy::cosine(std::size_t a, std::size_t b, std::size_t head) const {
  return dot_of(key(a, head), key(b, head)) * (inverse_length(a, head) * inverse_length(b, head));
}

// Updates the newest similar tokens for the last resident, which is new. Ranks rise in the loop, so
// the last one found is the newest.
void KeyRedundancy::meet(std::size_t head) {
  const std::size_t last = residents() - 1;
  for (std::size_t rank = 0; rank < last; ++rank) {
    const double likeness = cosine(rank, last, head);
    if (likeness <= threshold_) continue;
    set_newest(rank, head, last, likeness);
    set_newest(last, head, rank, likeness);
  }
}

// Finds the newest similar tokens of all residents anew, with keys rotated to ranks.
void KeyRedundancy::meet_at_ranks() {
  at_ranks_ = keys_;
  rotator_.rotate_to_ranks(dim_, heads_ * dim_, heads_ * dim_, at_ranks_);
  seen_ = at_ranks_.data();
  std::ranges::fill(newest_, no_token);
  for (std::size_t at = 0; at < newest_.size(); ++at) look_for_similar(at / heads_, at % heads_);
}

// From the newest rank down, so that the first match is the newest similar token.
void KeyRedundancy::look_for_similar(std::size_t rank, std::size_t head) {
  for (std::size_t other = residents(); other-- > 0;) {
    if (other == rank) continue;
    const double likeness = cosine(rank, other, head);
    if (likeness > threshold_) return set_newest(rank, head, other, likeness);
  }
}

void KeyRedundancy::set_newest(std::size_t rank,
                               std::size_t head,
                               std::size_t newest,
                               double likeness) {
  newest_[rank * heads_ + head] = static_cast<std::uint32_t>(newest);
  likeness_[rank * heads_ + head] = likeness;
}

// The rank of each resident once these are evicted; no_token for those that are.
void KeyRedundancy::find_new_ranks(std::span<const std::size_t> evicted) {
  new_ranks_.assign(residents(), no_token);
  std::uint32_t kept = 0;
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < new_ranks_.size(); ++rank) {
    if (next < evicted.size() && evicted[next] == rank) {
      ++next;
    } else {
      new_ranks_[rank] = kept++;
    }
  }
}

// Adds one head's softmax of mean cosines. Sums are rounded to multiples of 2^-40. Otherwise
// rounding errors, not age, would decide between tokens with equal sums, such as any two similar
// tokens.
void KeyRedundancy::charge(std::size_t head) {
  const Kernels& kernel = kernels();
  const std::size_t n = residents();
  sum_.assign(dim_, 0);
  for (std::size_t rank = 0; rank < n; ++rank) {
    kernel.add_weighted(sum_.data(), key(rank, head).data(), inverse_length(rank, head), dim_);
  }
  charges_.assign(n, 0);
  for (std::size_t rank = 0; rank < n; ++rank) {
    const double all = kernel.dot_weights(key(rank, head).data(), sum_.data(), dim_);
    const double inverse = inverse_length(rank, head);
    // Without the cosine with itself, which is 1. += because exemptions of earlier ranks are
    // already subtracted.
    charges_[rank] += all * inverse - (inverse > 0 ? 1 : 0);
    const std::uint32_t newest = newest_[rank * heads_ + head];
    if (newest != no_token) {
      charges_[newest] -= likeness_[rank * heads_ + head];
    } else if (exempts_first_ && rank > 0) {
      charges_[0] -= cosine(rank, 0, head);
    }
  }
  for (double& value : charges_) value = std::round(value * 0x1p40) * 0x1p-40;
  const double most = *std::ranges::max_element(charges_);
  double sum = 0;
  for (double& value : charges_) value = (value - most) / static_cast<double>(n);
  kernel.exp_each(charges_.data(), n);
  for (const double value : charges_) sum += value;
  for (std::size_t rank = 0; rank < n; ++rank) redundancy_[rank] += charges_[rank] / sum;
}

}  // namespace kv
