#include "policies/registry.h"

#include <algorithm>
#include <vector>

#include "policies/chunkkv.h"
#include "policies/expected_attention.h"
#include "policies/fifo.h"
#include "policies/h2o.h"
#include "policies/keep_recent.h"
#include "policies/key_norm.h"
#include "policies/keydiff.h"
#include "policies/keyformer.h"
#include "policies/lagkv.h"
#include "policies/lru.h"
#include "policies/pages.h"
#include "policies/random.h"
#include "policies/reservoir.h"
#include "policies/reservoir_as_printed.h"
#include "policies/reservoir_chao.h"
#include "policies/reservoir_es.h"
#include "policies/rkv.h"
#include "policies/scissorhands.h"
#include "policies/semantic_blocks.h"
#include "policies/snapkv.h"
#include "policies/token_classes.h"
#include "policies/tova.h"

namespace kv {

std::span<const PolicyEntry> policy_registry() {
  // One line a policy, in the order that help and reports show them.
  static const std::vector<PolicyEntry> table = {
      dense_policy(),
      window_policy(),
      streaming_policy(),
      random_policy(),
      reservoir_policy(),
      reservoir_as_printed_policy(),
      h2o_policy(),
      tova_policy(),
      fifo_policy(),
      lru_policy(),
      reservoir_chao_policy(),
      reservoir_es_policy(),
      scissorhands_policy(),
      keyformer_policy(),
      snapkv_policy(),
      chunkkv_policy(),
      key_norm_policy(),
      keydiff_policy(),
      lagkv_policy(),
      rkv_policy(),
      expected_attention_policy(),
      semantic_blocks_policy(),
      token_classes_policy(),
      separators_policy(),
      pages_policy(),
  };
  return table;
}

const PolicyEntry* find_policy(std::string_view name) {
  const auto table = policy_registry();
  const auto found = std::ranges::find(table, name, &PolicyEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv
