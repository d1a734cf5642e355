#include "policies/pages.h"

#include <array>
#include <string_view>

#include "base/check.h"

namespace kv {
namespace {

class Pages final : public Policy {
 public:
  Pages(std::size_t page, bool pins_first) : page_(page), pins_first_(pins_first) {
    KV_CHECK(page >= 1);
  }

  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    const std::span<const Position> at = candidates.positions;
    KV_CHECK(candidates.newcomers == 1 && at.size() == candidates.capacity + 1);
    std::size_t first = 0;
    while (pins_first_ && first < at.size() && at[first] < page_) ++first;
    if (first == at.size()) {
      // Nothing but the pinned page is left: its newest goes.
      victims.push_back(at.size() - 1);
      return;
    }
    const std::size_t oldest = at[first] / page_;
    for (std::size_t i = first; i < at.size() && at[i] / page_ == oldest; ++i) victims.push_back(i);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Pages>(*this);
  }

 private:
  std::size_t page_;
  bool pins_first_;
};

constexpr auto claims = std::array<std::string_view, 2>{"chunk-invariant", "deterministic"};

constexpr auto first_pages = std::array<std::string_view, 2>{"pinned", "freed"};
constexpr auto parameters = std::array<Parameter, 2>{{
    {.name = "page",
     .default_value = "16",
     .meaning = "tokens of a page",
     .range = counts(1, 4096)},
    {.name = "first-page",
     .default_value = "pinned",
     .choices = first_pages,
     .meaning = "whether the page of the first tokens stays whole"},
}};

}  // namespace

std::unique_ptr<Policy> make_pages(std::size_t page, bool pins_first) {
  return std::make_unique<Pages>(page, pins_first);
}

PolicyEntry pages_policy() {
  return {.name = "pages",
          .summary = "Drops whole pages, the oldest first, but for the first of all.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "paged caches with attention sinks: code vllm-project/vllm, "
              "SlidingWindowManager; hpcaitech/ColossalAI, start_token_size",
          .differs =
              "a page goes when room is needed, there once its newest token has left the "
              "window; the budget counts tokens, not pages",
          .cost = "O(page) time a page; no state",
          .make = [](const Options& options) {
            return make_pages(options.count("page"), options.at("first-page") == "pinned");
          }};
}

}  // namespace kv
