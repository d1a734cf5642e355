#include "kvcheck/policies/registry/registry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/policies/attention/a2sf.h"
#include "kvcheck/policies/attention/chunkkv.h"
#include "kvcheck/policies/attention/criticalkv.h"
#include "kvcheck/policies/attention/expected_attention.h"
#include "kvcheck/policies/attention/h2o.h"
#include "kvcheck/policies/attention/keyformer.h"
#include "kvcheck/policies/attention/kvzip.h"
#include "kvcheck/policies/attention/lru.h"
#include "kvcheck/policies/attention/rkv.h"
#include "kvcheck/policies/attention/scissorhands.h"
#include "kvcheck/policies/attention/snapkv.h"
#include "kvcheck/policies/attention/tova.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/policies/content/key_norm.h"
#include "kvcheck/policies/content/keydiff.h"
#include "kvcheck/policies/content/lagkv.h"
#include "kvcheck/policies/content/paged_eviction.h"
#include "kvcheck/policies/content/q_filters.h"
#include "kvcheck/policies/content/semantic_blocks.h"
#include "kvcheck/policies/content/token_classes.h"
#include "kvcheck/policies/guarded.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/position/fifo.h"
#include "kvcheck/policies/position/keep_recent.h"
#include "kvcheck/policies/position/ladder.h"
#include "kvcheck/policies/position/pages.h"
#include "kvcheck/policies/sampling/random.h"
#include "kvcheck/policies/sampling/reservoir.h"
#include "kvcheck/policies/sampling/reservoir_as_printed.h"
#include "kvcheck/policies/sampling/reservoir_chao.h"
#include "kvcheck/policies/sampling/reservoir_es.h"

namespace kv {

namespace {

// So many policies have room, so that the entries that specs point to never move.
constexpr std::size_t most_policies = 256;

std::vector<PolicyEntry> built_in() {
  // One line a policy, in the order that help and reports show them.
  std::vector<PolicyEntry> table = {
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
      a2sf_policy(),
      snapkv_policy(),
      chunkkv_policy(),
      criticalkv_policy(),
      key_norm_policy(),
      keydiff_policy(),
      lagkv_policy(),
      rkv_policy(),
      expected_attention_policy(),
      q_filters_policy(),
      semantic_blocks_policy(),
      token_classes_policy(),
      separators_policy(),
      pages_policy(),
      paged_eviction_policy(),
      ladder_policy(),
      kvzip_policy(),
  };
  table.reserve(most_policies);
  return table;
}

// A function-local static, so that the table exists before any static object that uses it. Only
// register_policies() and replace_policy() change it.
std::vector<PolicyEntry>& entries() {
  static std::vector<PolicyEntry> table = built_in();
  return table;
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

Result<void> check_parameters(const PolicyEntry& entry) {
  constexpr std::array<std::string_view, 3> taken = {"sinks", "recent", "budget"};
  for (const Parameter& parameter : entry.parameters) {
    const std::string whose =
        "parameter '" + std::string(parameter.name) + "' of '" + std::string(entry.name) + "'";
    if (!is_name(parameter.name) || std::ranges::find(taken, parameter.name) != taken.end() ||
        std::ranges::count(entry.parameters, parameter.name, &Parameter::name) > 1) {
      return usage_error(
          whose +
          " has an illegal name; expected one of a-z, 0-9 and '-' that no other parameter has, and "
          "none of sinks, recent and budget");
    }
    const auto value = legal_value(parameter, parameter.default_value);
    if (!value) return usage_error(whose + " has an illegal default: " + value.error().message);
    if (*value != parameter.default_value) {
      return usage_error(whose + " has the default '" + std::string(parameter.default_value) +
                         "'; expected it as specs write it, '" + *value + "'");
    }
  }
  return {};
}

// Checks the texts that help and reports show.
Result<void> check_words(const PolicyEntry& entry) {
  const std::string name(entry.name);
  const std::array<std::pair<std::string_view, std::string_view>, 4> reported = {
      {{"summary", entry.summary},
       {"source", entry.source},
       {"differs", entry.differs},
       {"cost", entry.cost}}};
  for (const auto& [what, text] : reported) {
    if (text.empty()) return usage_error("'" + name + "' has an empty " + std::string(what));
  }
  for (const std::string_view claim : entry.claims) {
    const std::string wrong = wrong_claim(claim);
    if (!wrong.empty()) return usage_error("'" + name + "' makes an " + wrong);
  }
  return {};
}

Result<void> check_entry(const PolicyEntry& entry) {
  if (!is_name(entry.name) || entry.make == nullptr) {
    return usage_error("'" + std::string(entry.name) +
                       "' is not a policy; expected a maker, and a name of a-z, 0-9 and '-'");
  }
  if (Result<void> legal = check_parameters(entry); !legal) return legal;
  if (Result<void> reported = check_words(entry); !reported) return reported;
  return check_maker(entry, Options(entry.parameters));
}

}  // namespace

std::span<const PolicyEntry> policy_registry() {
  return entries();
}

Result<void> register_policies(std::span<const PolicyEntry> more) {
  if (more.size() > most_policies - entries().size()) {
    return usage_error("there are more than " + std::to_string(most_policies) +
                       " policies; expected no more");
  }
  std::vector<PolicyEntry> table = entries();
  for (const PolicyEntry& entry : more) {
    if (std::ranges::find(table, entry.name, &PolicyEntry::name) != table.end()) {
      return usage_error("there is a policy '" + std::string(entry.name) +
                         "' already; expected another name");
    }
    if (Result<void> legal = check_entry(entry); !legal) return legal;
    table.push_back(entry);
  }
  entries().insert(entries().end(), more.begin(), more.end());
  return {};
}

Result<void> replace_policy(const PolicyEntry& entry) {
  static const std::size_t own = built_in().size();
  const auto found = std::ranges::find(entries(), entry.name, &PolicyEntry::name);
  const auto at = static_cast<std::size_t>(found - entries().begin());
  if (at < own || at == entries().size()) return register_policies({&entry, 1});
  if (Result<void> legal = check_entry(entry); !legal) return legal;
  *found = entry;
  return {};
}

Result<void> check_maker(const PolicyEntry& entry, const Options& options) {
  const std::string name(entry.name);
  std::unique_ptr<Policy> policy;
  std::optional<std::string> thrown = thrown_by([&] { policy = entry.make(options); });
  if (thrown) return usage_error("the maker of '" + name + "' " + *thrown);
  if (policy == nullptr) return usage_error("the maker of '" + name + "' returns no policy");
  thrown = thrown_by([&] { policy = policy->clone(); });
  if (thrown) return usage_error("clone() of '" + name + "' " + *thrown);
  if (policy == nullptr) return usage_error("clone() of '" + name + "' returns no policy");
  return {};
}

const PolicyEntry* find_policy(std::string_view name) {
  const auto table = policy_registry();
  const auto found = std::ranges::find(table, name, &PolicyEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv
