#include "policies/registry.h"

#include <algorithm>
#include <vector>

#include "policies/h2o.h"
#include "policies/keep_recent.h"
#include "policies/random.h"
#include "policies/reservoir.h"
#include "policies/reservoir_as_printed.h"
#include "policies/tova.h"

namespace kv {

std::span<const PolicyEntry> policy_registry() {
  // One line a policy, in the order that help and reports show them.
  static const std::vector<PolicyEntry> table = {
      dense_policy(),  window_policy(),    streaming_policy(),
      random_policy(), reservoir_policy(), reservoir_as_printed_policy(),
      h2o_policy(),    tova_policy(),
  };
  return table;
}

const PolicyEntry* find_policy(std::string_view name) {
  const auto table = policy_registry();
  const auto found = std::ranges::find(table, name, &PolicyEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv
