#include "kvcheck/properties/reference/page_rule.h"

#include <algorithm>

namespace kv::properties {

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

}  // namespace kv::properties
