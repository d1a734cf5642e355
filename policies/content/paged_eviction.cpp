#include "kvcheck/policies/content/paged_eviction.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class PagedEviction final : public Policy {
 public:
  explicit PagedEviction(std::size_t page) : page_(page) { KV_CHECK(page >= 1); }

  [[nodiscard]] Needs needs() const override { return {.keys = true, .values = true}; }

  void observe(const Observation& observation) override {
    const std::size_t heads = observation.keys.heads();
    double sum = 0;
    for (std::size_t head = 0; head < heads; ++head) {
      const double key = norm_of(observation.keys.head(head));
      sum += norm_of(observation.values.head(head)) / (key > 0 ? key : 1);
    }
    scores_.push_back(sum / static_cast<double>(heads));
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::span<const Position> at = candidates.positions;
    const auto scores = std::span<const double>(scores_).subspan(candidates.first_rank, at.size());
    std::size_t lowest = at.size();
    double least = 0;
    for (std::size_t i = 0; i + page_ <= at.size(); ++i) {
      if (!begins_whole_page(at.subspan(i))) continue;
      double sum = 0;
      for (const double score : scores.subspan(i, page_)) sum += score;
      if (lowest < at.size() && sum >= least) continue;
      lowest = i;
      least = sum;
    }
    if (lowest == at.size()) return victims.push_back(0);
    for (std::size_t i = lowest; i < lowest + page_; ++i) victims.push_back(i);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(scores_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<PagedEviction>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(scores_); }

  void load(ByteReader& reader) override { reader.get(scores_); }

 private:
  [[nodiscard]] bool begins_whole_page(std::span<const Position> at) const {
    return at[0] % page_ == 0 && at[page_ - 1] - at[0] == page_ - 1;
  }

  std::size_t page_;
  std::vector<double> scores_;  // [residents], by rank
};

// Not of constant size, because whole pages are evicted.
constexpr auto claims = std::array<std::string_view, 2>{"chunk-invariant", "deterministic"};

constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "page",
     .default_value = "16",
     .meaning = "tokens of a page",
     .range = counts(1, 4096)},
}};

}  // namespace

std::unique_ptr<Policy> make_paged_eviction(std::size_t page) {
  return std::make_unique<PagedEviction>(page);
}

PolicyEntry paged_eviction_policy() {
  return {
      .name = "paged-eviction",
      .summary = "Evicts whole pages, the one with the shortest values beside its keys first.",
      .protection = {.recent_percent = 0},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Chitty-Venkata et al., \"PagedEviction: Structured Block-wise KV Cache Pruning for "
          "Efficient Large Language Model Inference\", arXiv:2509.04377",
      .differs =
          "The source evicts single tokens of a prompt before it forms pages, so that pages "
          "hold what remains; here pages are of the stream, and a prompt loses whole pages "
          "too. The source evicts a page whenever the newest one is full; here when room is "
          "needed. A page of the source holds all heads of a layer (unit=layer); by default "
          "each kv-head has pages of its own here. The budget counts tokens, not pages.",
      .cost = "O(middle) time a page; 8 bytes per resident",
      .make = [](const Options& options) { return make_paged_eviction(options.count("page")); }};
}

}  // namespace kv
