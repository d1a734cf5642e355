// Right subjects whose later layers attend to the rows of earlier ones.
#include <memory>
#include <string>
#include <utility>

#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/tagged/tagged_family.h"

namespace kv::properties {
namespace {

// Says what each layer occupies: those that read another's rows nothing.
struct CountsBytes final : TaggedCache {
  [[nodiscard]] Facts counted(Facts facts) {
    for (std::size_t head = 0; head < facts.units.size(); ++head) {
      const std::uint32_t layer = place_of(head).layer;
      const std::size_t own = owner_of(layer) == layer ? facts.units[head].stored.size() : 0;
      facts.units[head].bytes = 64 * own;
    }
    return facts;
  }

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = TaggedCache::feed(feed);
    if (auto* const facts = std::get_if<Facts>(&answer)) *facts = counted(std::move(*facts));
    return answer;
  }

  Facts look() override { return counted(TaggedCache::look()); }
};

template <typename Made = TaggedCache>
RightSubject plain(std::string_view name, std::string_view why, const TaggedOptions& options) {
  return {name, why, [=]() -> std::unique_ptr<Family> {
            return std::make_unique<TaggedFamily<Made>>(std::string(name), options);
          }};
}

}  // namespace

std::vector<RightSubject> borrowing_subjects() {
  return {
      plain<CountsBytes>("plain-borrowing", "later layers attend to the rows of earlier ones",
                         {.borrows = true}),
      plain("plain-borrowing-h2o", "so they do, and the owner's queries alone decide",
            {.policy = "h2o", .visibility = Visibility::causal, .rollback = 4, .borrows = true}),
      plain("plain-borrowing-reservoir", "so they do of one sample, per query head, kept lazily",
            {.policy = "reservoir",
             .timing = Timing::lazy,
             .slack = 4,
             .unit = Unit::head,
             .slots = SlotOrder::lowest_free,
             .borrows = true}),
      plain("plain-borrowing-shared", "heads share a budget, and layers the rows",
            {.policy = "tova", .visibility = Visibility::causal, .shares = true, .borrows = true}),
      plain("plain-borrowing-per-layer", "heads share residents, and layers the rotated rows",
            {.policy = "h2o",
             .visibility = Visibility::causal,
             .positions = PositionMode::shifted,
             .unit = Unit::layer,
             .borrows = true}),
  };
}

}  // namespace kv::properties
