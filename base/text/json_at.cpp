#include "kvcheck/base/text/json_at.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <limits>

#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

const boost::json::value nothing;

constexpr std::size_t most_shown = 60;  // bytes of the value that a message shows

}  // namespace

std::optional<JsonAt> JsonAt::find(std::string_view name) const {
  const auto* object = value_->if_object();
  if (object == nullptr) return std::nullopt;
  const boost::json::value* field = object->if_contains(name);
  if (field == nullptr || field->is_null()) return std::nullopt;
  return JsonAt(*field, *this, name);
}

JsonAt JsonAt::need(std::string_view name) const {
  if (const auto field = find(name)) return *field;
  if (value_->is_object()) {
    complain("the field \"" + std::string(name) + "\" is missing");
  } else {
    expected("an object with the field \"" + std::string(name) + "\"");
  }
  return JsonAt(nothing, *this, name);
}

void JsonAt::only(std::initializer_list<std::string_view> names) const {
  const auto* object = value_->if_object();
  if (object == nullptr) return expected("an object");
  if (complaints_->strict) only_ever(names);
}

void JsonAt::only_ever(std::initializer_list<std::string_view> names) const {
  only_ever(std::span(names.begin(), names.size()));
}

void JsonAt::only_ever(std::span<const std::string_view> names) const {
  const auto* object = value_->if_object();
  if (object == nullptr) return expected("an object");
  for (const auto& field : *object) {
    if (std::ranges::find(names, std::string_view(field.key())) != names.end()) continue;
    complain(unknown_word("field", field.key(), names));
  }
}

std::size_t JsonAt::size(std::string_view what) const {
  const auto* array = value_->if_array();
  if (array != nullptr) return array->size();
  expected(what);
  return 0;
}

JsonAt JsonAt::operator[](std::size_t index) const {
  return JsonAt(value_->get_array()[index], *this, index);
}

std::int64_t JsonAt::integer(std::string_view what, std::int64_t least, std::int64_t most) const {
  std::int64_t found = 0;
  if (const auto* whole = value_->if_int64()) {
    found = *whole;
  } else if (const auto* large = value_->if_uint64()) {
    found = static_cast<std::int64_t>(
        std::min(*large, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
  } else {
    expected(what);
    return least;
  }
  if (found >= least && found <= most) return found;
  expected(std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(most));
  return least;
}

std::uint64_t JsonAt::unsigned64(std::string_view what) const {
  if (const auto* large = value_->if_uint64()) return *large;
  if (const auto* whole = value_->if_int64(); whole != nullptr && *whole >= 0) {
    return static_cast<std::uint64_t>(*whole);
  }
  expected(what);
  return 0;
}

double JsonAt::number(std::string_view what) const {
  if (value_->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto* real = value_->if_double()) return *real;
  if (const auto* whole = value_->if_int64()) return static_cast<double>(*whole);
  if (const auto* large = value_->if_uint64()) return static_cast<double>(*large);
  expected(what);
  return 0;
}

bool JsonAt::boolean(std::string_view what) const {
  if (const auto* found = value_->if_bool()) return *found;
  expected(std::string(what) + " (true or false)");
  return false;
}

std::string JsonAt::text(std::string_view what) const {
  if (const auto* found = value_->if_string()) return {found->data(), found->size()};
  expected(std::string(what) + " (a string)");
  return {};
}

void JsonAt::complain(std::string_view sentence) const {
  complaints_->lines.push_back(path() + ": " + std::string(sentence));
}

void JsonAt::expected(std::string_view what) const {
  // Boost writes 64.5 as 6.45E1.
  const auto* const number = value_->if_double();
  std::string found = number != nullptr ? shortest(*number) : boost::json::serialize(*value_);
  if (found.size() > most_shown) found = found.substr(0, most_shown) + "...";
  complain("expected " + std::string(what) + ", found " + found);
}

std::string JsonAt::path() const {
  if (parent_ == nullptr) return std::string(name_);
  const std::string before = parent_->path();
  return name_.empty() ? before + "[" + std::to_string(index_) + "]"
                       : before + "." + std::string(name_);
}

}  // namespace kv
