#include "kvcheck/model/attention/chunk_observations.h"

#include <algorithm>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv::model {

void RepeatedShares::add(std::span<const float> mass) {
  KV_CHECK(mass.size() > rows_.stored);
  const auto sum = [&](std::size_t begin, std::size_t end) {
    const auto part = mass.subspan(begin, end - begin);
    return std::accumulate(part.begin(), part.end(), 0.0);
  };
  const double paid =
      sum(0, rows_.sinks) + sum(rows_.first, rows_.last) + sum(rows_.stored, mass.size());
  // A query that paid all to other rows has no shares.
  if (!(paid > 0)) return;
  for (std::size_t rank = rows_.first; rank < rows_.last; ++rank) {
    const auto share = static_cast<float>(static_cast<double>(mass[rank]) / paid);
    largest_[rank] = std::max(largest_[rank], share);
  }
}

void ChunkObservations::begin(const Needs& needs, std::size_t tokens) {
  mass_.assign(needs.attention ? tokens : 0, {});
  vectors_.assign(needs.vectors() ? tokens : 0, {});
  for (TokenVectors& vectors : vectors_) vectors.clear(dim_);
}

void ChunkObservations::add_mass(std::size_t query, std::span<const float> mass) {
  mass_[query].resize(mass.size());
  kernels().add(mass_[query].data(), mass.data(), mass.size());
}

void ChunkObservations::show(UnitCache& cache,
                             std::size_t query,
                             std::size_t heads,
                             std::span<const TokenClass> classes) {
  const Needs needs = cache.needs().of_stream();
  Observation shown;
  if (needs.attention) {
    std::vector<float>& row = mass_[query];
    if (heads > 1) kernels().scale(row.data(), 1.0F / static_cast<float>(heads), row.size());
    shown.mass = row;
  }
  if (needs.vectors()) vectors_[query].show(needs, shown);
  if (needs.token_classes) shown.token_class = classes[query];
  cache.observe(shown);
}

}  // namespace kv::model
