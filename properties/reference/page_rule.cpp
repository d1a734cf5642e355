#include "kvcheck/properties/reference/page_rule.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace kv::properties {

double PageRule::bound(std::size_t page, const TokenInputs& own, const TopPages& sizes) const {
  double sum = 0;
  for (std::size_t d = 0; d < own.queries.size(); ++d) {
    std::vector<double> products;
    for (std::size_t at = page * sizes.page; at < (page + 1) * sizes.page; ++at) {
      products.push_back(static_cast<double>(own.queries[d]) * static_cast<double>(keys_[at][d]));
    }
    sum += std::ranges::max(products);
  }
  return sum;
}

double PageRule::logit(std::size_t page, const TokenInputs& own, const TopPages& sizes) const {
  std::vector<double> logits;
  for (std::size_t at = page * sizes.page; at < (page + 1) * sizes.page; ++at) {
    double& logit = logits.emplace_back(0);
    for (std::size_t d = 0; d < own.queries.size(); ++d) {
      logit += static_cast<double>(own.queries[d]) * static_cast<double>(keys_[at][d]);
    }
  }
  return std::ranges::max(logits);
}

std::vector<Position> PageRule::selected(const std::vector<Position>& there,
                                         const TokenInputs& own,
                                         const TopPages& sizes) const {
  const std::size_t last = there.back() / sizes.page;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t page = 0; page < last; ++page) order.emplace_back(bound(page, own, sizes), page);
  std::ranges::sort(order, std::greater());
  std::vector<std::size_t> pages = {last};
  for (const auto& [bound, page] : order) {
    if ((pages.size() + 1) * sizes.page <= sizes.attended) pages.push_back(page);
  }
  std::vector<Position> rows;
  for (const Position p : there) {
    if (std::ranges::find(pages, p / sizes.page) != pages.end()) rows.push_back(p);
  }
  return rows;
}

}  // namespace kv::properties
