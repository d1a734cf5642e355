#include "kvcheck/model/decoder/re_evaluation.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/decoder/decoder.h"

namespace kv::model {
namespace {

// Replaces the cache's vectors by those of a pass over the residents, layer by layer.
class VectorReplacement final : public AttentionObserver {
 public:
  explicit VectorReplacement(CachedAttention& cache) : cache_(cache) {}

  void on_vectors(Position /*first*/, const LayerVectors& vectors) override {
    cache_.replace(vectors);
  }

  [[nodiscard]] bool wants_rows(std::size_t /*layer*/) const override { return false; }

 private:
  CachedAttention& cache_;
};

bool contains(const Visible& residents, Position position) {
  const auto in = [position](Run run) { return run.first <= position && position < run.last; };
  return in(residents.sinks) || in(residents.recent) ||
         std::ranges::binary_search(residents.middle, position);
}

}  // namespace

void ReEvaluation::drop_evicted(const Visible& residents) {
  std::erase_if(residents_,
                [&](const Resident& one) { return !contains(residents, one.position); });
  KV_CHECK(residents_.size() == residents.size());
}

Result<void> ReEvaluation::refresh(CachedAttention& attention, std::span<const TokenId> chunk) {
  auto position = static_cast<Position>(attention.seen() - chunk.size());
  for (const TokenId token : chunk) residents_.push_back({position++, token});
  // All units have the same residents under such a spec, so the first one speaks for them.
  const UnitCache& cache = attention.units().front().cache;
  if (cache.counts().evicted == evicted_at_last_pass_) return {};
  evicted_at_last_pass_ = cache.counts().evicted;
  drop_evicted(cache.all());
  std::vector<TokenId> before;
  for (const Resident& resident : residents_) before.push_back(resident.token);
  before.resize(before.size() - chunk.size());
  if (before.empty()) return {};
  // A dense pass over just these tokens: each sees all residents before it, at its rank.
  VectorReplacement replacement(attention);
  const auto dense = parse_spec("dense");
  KV_CHECK(dense.has_value());
  const DecoderOptions options{.storage = storage_,
                               .keys = keys_,
                               .length = length_,
                               .observer = &replacement,
                               .team = team_};
  auto pass = Decoder::create(*model_, *dense, options);
  if (!pass) return pass.error();
  // Only its vectors are needed; logits of the last token are the fewest that a feed computes.
  return pass->feed(before, Logits::last);
}

}  // namespace kv::model
