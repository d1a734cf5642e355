// What crosses the C interface: tokens as rows and logits going in, rows and masks coming out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/cases/tensor_rows.h"
#include "kvcheck/properties/remote/plugin.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// What a feed hands over; empty where the plugin's flags do not ask for it.
struct Given {
  std::vector<std::int64_t> ids;
  std::vector<std::byte> keys;  // numbers of the plugin's type
  std::vector<std::byte> values;
  std::vector<float> logits;
};

// Rows of the plugin's own sizes and type; nothing where it names none.
std::optional<TensorRows> tensor_rows(const kvp_plugin& plugin);

// What is wrong with the sizes and the type that it names, as a sentence; empty: nothing.
std::string wrong_rows(const kvp_plugin& plugin);

// `rows` are tensor_rows(plugin). `fed` is what was fed before and still counts.
Given give(const kvp_plugin& plugin,
           const std::optional<TensorRows>& rows,
           const Setup& setup,
           std::span<const Token> fed,
           const Feed& feed);

// What a plugin reported of a unit. Throws SubjectFailed where a pointer is missing.
UnitFacts unit_facts(const kvp_plugin& plugin,
                     const std::optional<TensorRows>& rows,
                     const kvp_unit& reported,
                     std::size_t queries);

}  // namespace kv::properties
