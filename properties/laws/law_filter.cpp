#include "kvcheck/properties/laws/law_filter.h"

#include <algorithm>

#include "kvcheck/base/text/nearest_words.h"

namespace kv::properties {
namespace {

bool named(std::string_view id, std::string_view pattern) {
  if (!pattern.ends_with('*')) return id == pattern;
  return id.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::string unknown_law(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Law& law : laws()) ids.push_back(law.id);
  return unknown_among_many("law", id, ids, "kvcheck check --list names all");
}

Result<std::vector<const Law*>> laws_named(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const auto names = [&](const Law& law) { return named(law.id, pattern); };
    if (std::ranges::none_of(laws(), names)) return usage_error(unknown_law(pattern));
  }
  std::vector<const Law*> selected;
  for (const Law& law : laws()) {
    const auto names = [&](const std::string& pattern) { return named(law.id, pattern); };
    if (patterns.empty() || std::ranges::any_of(patterns, names)) selected.push_back(&law);
  }
  return selected;
}

}  // namespace kv::properties
