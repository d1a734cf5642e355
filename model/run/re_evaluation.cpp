#include "kvcheck/model/run/re_evaluation.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/run/decoder.h"

namespace kv::model {
namespace {

// Hands over the vectors that a pass makes, layer by layer.
class Handover final : public AttentionObserver {
 public:
  explicit Handover(CachedAttention& to) : to_(to) {}

  void on_vectors(Position /*first*/, const LayerVectors& vectors) override {
    to_.replace(vectors);
  }

 private:
  CachedAttention& to_;
};

bool contains(const Visible& residents, Position position) {
  const auto in = [position](Run run) { return run.first <= position && position < run.last; };
  return in(residents.sinks) || in(residents.recent) ||
         std::ranges::binary_search(residents.middle, position);
}

}  // namespace

void ReEvaluation::keep(const Visible& residents) {
  std::erase_if(held_, [&](const Held& held) { return !contains(residents, held.position); });
  KV_CHECK(held_.size() == residents.size());
}

Result<void> ReEvaluation::refresh(CachedAttention& attention, std::span<const TokenId> coming) {
  auto position = static_cast<Position>(attention.seen() - coming.size());
  for (const TokenId token : coming) held_.push_back({position++, token});
  const UnitCache& cache = attention.units().front().cache;
  if (cache.counts().evicted == evicted_) return {};
  evicted_ = cache.counts().evicted;
  keep(cache.all());
  std::vector<TokenId> before;
  for (const Held& held : held_) before.push_back(held.token);
  before.resize(before.size() - coming.size());
  if (before.empty()) return {};
  Handover handover(attention);
  const auto dense = parse_spec("dense");
  KV_CHECK(dense.has_value());
  auto pass =
      Decoder::create(*model_, *dense, {.storage = storage_, .keys = keys_, .observer = &handover});
  if (!pass) return pass.error();
  return pass->feed(before, Logits::last);
}

}  // namespace kv::model
