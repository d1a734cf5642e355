// What crosses the C interface: tokens as rows and logits going in, rows and masks coming out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/properties/remote/plugin.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// What a feed hands over; empty where the plugin's flags do not ask for it.
struct Given {
  std::vector<std::int64_t> ids;
  std::vector<float> keys;
  std::vector<float> values;
  std::vector<float> logits;
};

// `fed` is what was fed before and still counts.
Given give(const kvp_plugin& plugin,
           const Setup& setup,
           std::span<const Token> fed,
           const Feed& feed);

// What a plugin reported of a unit. Throws SubjectFailed where a pointer is missing.
UnitFacts unit_facts(const kvp_plugin& plugin, const kvp_unit& reported, std::size_t queries);

}  // namespace kv::properties
