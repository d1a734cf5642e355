// The right subjects, which no law may accuse.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/properties/family.h"

namespace kv::properties {

struct RightSubject {
  std::string_view name;
  std::string_view why;  // the legal freedom that it uses: "lazy slack, declared"
  std::function<std::unique_ptr<Family>()> make;
};

std::span<const RightSubject> right_subjects();

// A group of them: layers that attend to the rows of others.
std::vector<RightSubject> borrowing_subjects();

}  // namespace kv::properties
