#include "kvcheck/policies/position/pages.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Pages final : public Policy {
 public:
  Pages(std::size_t page, FirstPage first) : page_(page), first_(first) { KV_CHECK(page >= 1); }

  // The end of the last page that holds a sink.
  [[nodiscard]] std::uint64_t masked_below(std::size_t sinks) const override {
    return first_ == FirstPage::masked ? (sinks + page_ - 1) / page_ * page_ : 0;
  }

  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    const std::span<const Position> at = candidates.positions;
    KV_CHECK(candidates.newcomers == 1 && at.size() == candidates.capacity + 1);
    std::size_t first = 0;
    const Position pinned = first_ == FirstPage::pinned ? static_cast<Position>(page_) : 0;
    while (first < at.size() && at[first] < pinned) ++first;
    if (first == at.size()) {
      // Only tokens of the pinned page are left, so its newest token is evicted.
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
  FirstPage first_;
};

// Not of constant size, because whole pages are evicted.
constexpr auto claims = std::array<std::string_view, 2>{"chunk-invariant", "deterministic"};

constexpr auto first_pages = std::array<std::string_view, 3>{"pinned", "masked", "freed"};
constexpr auto parameters = std::array<Parameter, 2>{{
    {.name = "page",
     .default_value = "16",
     .meaning = "tokens of a page",
     .range = counts(1, 4096)},
    {.name = "first-page",
     .default_value = "pinned",
     .choices = first_pages,
     .meaning =
         "what happens to the page of the first tokens: it is visible as a whole if the sinks "
         "and the middle hold a page; or stored, with only its sinks visible; or freed except "
         "for its sinks"},
}};

FirstPage first_of(std::string_view word) {
  if (word == "masked") return FirstPage::masked;
  return word == "freed" ? FirstPage::freed : FirstPage::pinned;
}

}  // namespace

std::unique_ptr<Policy> make_pages(std::size_t page, FirstPage first) {
  return std::make_unique<Pages>(page, first);
}

PolicyEntry pages_policy() {
  return {
      .name = "pages",
      .summary = "Evicts whole pages, the oldest first, but keeps the first page of the stream.",
      .protection = {.sinks = 4},
      .parameters = parameters,
      .claims = claims,
      .source =
          "paged caches with attention sinks: code vllm-project/vllm, "
          "SlidingWindowManager; hpcaitech/ColossalAI, start_token_size",
      .differs =
          "A page is evicted when room is needed; in the source it is freed once its newest "
          "token has left the window. The budget counts tokens, not pages. A middle smaller "
          "than a page can become empty, and without a middle tokens are evicted one by one.",
      .cost = "O(page) time a page; no state",
      .make = [](const Options& options) {
        return make_pages(options.count("page"), first_of(options.at("first-page")));
      }};
}

}  // namespace kv
