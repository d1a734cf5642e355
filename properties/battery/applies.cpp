#include "kvcheck/properties/battery/applies.h"

#include <cstdint>
#include <string_view>

namespace kv::properties {

WhyNot why_not_applicable(const Law& law, const Contract& contract) {
  if (auto why = law.why_not(contract)) return why;
  const bool statistical = std::holds_alternative<Measure>(law.check);
  const bool must_evict = law.must_see.eviction || law.must_see.wrap;
  const bool selects = contract.visibility == Visibility::top_pages;
  if (!statistical && must_evict && contract.budget == 0 && !selects) {
    return "nothing is ever evicted";
  }
  return {};
}

std::string never_seen(const MustSee& must, const Coverage& seen, const Contract& contract) {
  const std::uint32_t window = contract.recent > 0 ? contract.recent : contract.budget;
  const std::uint32_t longest = contract.longest_after(0);
  const bool takes_wide = longest == 0 || longest > window;
  std::string missing;
  const auto miss = [&](bool is_missing, std::string_view what) {
    if (is_missing) missing += (missing.empty() ? "" : ", nor ") + std::string(what);
  };
  miss(must.eviction && !seen.eviction, "an eviction");
  miss(must.wide_chunk && takes_wide && !seen.wide_chunk, "a chunk wider than the window");
  miss(must.wrap && !seen.wrap, "a full budget of tokens after the budget was full");
  return missing;
}

}  // namespace kv::properties
