#include "kvcheck/model/attention/chunk_observations.h"

#include "kvcheck/base/kernels/kernels.h"

namespace kv::model {

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
  const Needs& needs = cache.needs();
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
