#include "kvcheck/properties/statistics/counts.h"

#include <algorithm>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

// n over k. Each division is exact, since i consecutive numbers contain a multiple of i.
std::uint64_t select(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

template <typename T>
void add_all(std::vector<T>& sums, const std::vector<T>& terms) {
  KV_CHECK(sums.size() == terms.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += terms[i];
}

}  // namespace

std::uint64_t subset_count(const Shape& shape) {
  KV_CHECK(shape.n <= 32);
  return select(shape.n, shape.k);
}

std::uint64_t subset_index(std::span<const std::uint32_t> kept) {
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) index += select(kept[i], i + 1);
  return index;
}

Counts::Counts(const Shape& shape, const CountsRequested& requested)
    : shape_(shape), kept_(shape.n), accepted_(shape.n - shape.k), ranks_(shape.k) {
  KV_CHECK(shape.k >= 1 && shape.k < shape.n);
  if (requested.pairs) pairs_.resize(std::size_t{shape.n} * (shape.n - 1) / 2);
  if (requested.subsets) subsets_.resize(subset_count(shape));
}

// Pairs of one larger token lie side by side, so add() touches one stretch per kept token.
std::size_t Counts::pair_index(std::uint32_t i, std::uint32_t j) const {
  return std::size_t{j} * (j - 1) / 2 + i;
}

void Counts::add(const Replicate& replicate) {
  KV_CHECK(replicate.kept.size() == shape_.k && replicate.kept.back() < shape_.n);
  ++streams_;
  for (const std::uint32_t token : replicate.kept) ++kept_[token];
  if (!pairs_.empty()) {
    for (std::size_t b = 1; b < replicate.kept.size(); ++b) {
      std::uint32_t* const row = pairs_.data() + pair_index(0, replicate.kept[b]);
      for (std::size_t a = 0; a < b; ++a) ++row[replicate.kept[a]];
    }
  }
  if (!subsets_.empty()) ++subsets_[subset_index(replicate.kept)];
  if (replicate.gone.empty()) return;
  KV_CHECK(replicate.gone.size() == accepted_.size());
  ++reported_;
  for (std::size_t i = 0; i < replicate.gone.size(); ++i) {
    const std::uint32_t rank = replicate.gone[i];
    if (rank >= shape_.k) continue;  // the newcomer itself was evicted
    ++accepted_[i];
    ++ranks_[rank];
  }
}

void Counts::merge(const Counts& other) {
  KV_CHECK(shape_ == other.shape_);
  streams_ += other.streams_;
  reported_ += other.reported_;
  add_all(kept_, other.kept_);
  add_all(pairs_, other.pairs_);
  add_all(accepted_, other.accepted_);
  add_all(ranks_, other.ranks_);
  add_all(subsets_, other.subsets_);
}

std::uint64_t Counts::pair(std::uint32_t i, std::uint32_t j) const {
  KV_CHECK(i < j && j < shape_.n && has_pairs());
  return pairs_[pair_index(i, j)];
}

}  // namespace kv::properties
