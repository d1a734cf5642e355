#include "kvcheck/policies/position/ladder.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Ladder final : public OneByOne {
 public:
  Ladder(std::size_t keep, std::size_t drop, LadderOrder order)
      : keep_(keep), drop_(drop), order_(order) {
    KV_CHECK(keep >= 1 && drop >= 1);
  }

  void set_layer(const LayerOf& layer) override { layer_ = layer; }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Ladder>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(run_);
    writer.put(dropped_);
  }

  void load(ByteReader& reader) override {
    run_ = reader.get<std::uint64_t>();
    dropped_ = reader.get<std::uint64_t>();
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& /*draws*/) override {
    const std::size_t middle = candidates.positions.size();
    // A middle smaller than a run is one run, of which at least one token is evicted.
    const std::size_t size = std::min(keep_ + drop_, middle);
    const std::size_t keep = std::min(keep_, size - 1);
    const std::size_t drop = size - keep;
    // A sweep restarts only between runs: a run that has lost tokens is finished first.
    if (dropped_ == 0 && run_ > middle - size) run_ = 0;
    // Tokens before the kept ones are evicted first. After that the kept ones are at the beginning
    // of the run, so the next victim follows them.
    const bool before = dropped_ < first_kept(drop);
    const std::size_t victim = std::min(run_ + (before ? 0 : keep), middle - 1);
    if (++dropped_ >= drop) {
      dropped_ = 0;
      run_ += keep;
    }
    return victim;
  }

 private:
  // The index in a run of the first token that the layer keeps, 0 to drop.
  [[nodiscard]] std::size_t first_kept(std::size_t drop) const {
    const auto [index, layers] = layer_;
    return order_ == LadderOrder::rising ? index * (drop + 1) / layers : index % (drop + 1);
  }

  std::size_t keep_;
  std::size_t drop_;
  LadderOrder order_;
  LayerOf layer_;
  std::uint64_t run_ = 0;      // its beginning in the middle; earlier tokens have been swept
  std::uint64_t dropped_ = 0;  // of this run so far
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "deterministic"};

constexpr auto orders = std::array<std::string_view, 2>{"rising", "interleaved"};
constexpr auto parameters = std::array<Parameter, 3>{{
    {.name = "keep",
     .default_value = "1",
     .meaning = "consecutive tokens of a run that each layer keeps",
     .range = counts(1, 4096)},
    {.name = "drop",
     .default_value = "1",
     .meaning = "tokens of a run that each layer evicts",
     .range = counts(1, 4096)},
    {.name = "order",
     .default_value = "rising",
     .choices = orders,
     .meaning =
         "rising: the deeper a layer, the later the tokens that it keeps (the last layer of a "
         "trace counts as the deepest); interleaved: neighbouring layers alternate"},
}};

}  // namespace

std::unique_ptr<Policy> make_ladder(std::size_t keep, std::size_t drop, LadderOrder order) {
  return std::make_unique<Ladder>(keep, drop, order);
}

PolicyEntry ladder_policy() {
  return {
      .name = "ladder",
      .summary = "Thins the middle repeatedly, and keeps different tokens in different layers.",
      .protection = {.sinks = 4, .recent_percent = 12},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Shi et al., \"LaCache: Ladder-Shaped KV Caching for Efficient Long-Context "
          "Modeling of Large Language Models\", ICML 2025, arXiv:2507.14204; code "
          "GATECH-EIC/LaCache, its kv_cache.py",
      .differs =
          "The tokens of a run are evicted one by one as room is needed; the source evicts them "
          "at once. In its code neighbouring layers alternate (order=interleaved), and as many "
          "recent tokens are protected as there are layers.",
      .cost = "O(1) time a token; two counters",
      .make = [](const Options& options) {
        const bool rising = options.at("order") == "rising";
        return make_ladder(options.count("keep"), options.count("drop"),
                           rising ? LadderOrder::rising : LadderOrder::interleaved);
      }};
}

}  // namespace kv
