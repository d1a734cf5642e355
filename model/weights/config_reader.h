// The entries of a configuration, read by name. Private to model/weights.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"

namespace kv::model {

// Reads entries one by one and keeps the first error.
class ConfigReader {
 public:
  ConfigReader(const boost::json::object& object, std::string path)
      : object_(object), path_(std::move(path)) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  // An entry that is null counts as missing: exporters write null for a default.
  [[nodiscard]] const boost::json::value* find(std::string_view name) const {
    const boost::json::value* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  std::size_t count(std::string_view name) {
    if (find(name) == nullptr) keep("has no '" + path_ + std::string(name) + "'");
    return count(name, 0);
  }

  std::size_t count(std::string_view name, std::size_t otherwise) {
    const boost::json::value* value = find(name);
    if (value == nullptr) return otherwise;
    if (value->is_int64() && value->get_int64() >= 0) {
      return static_cast<std::size_t>(value->get_int64());
    }
    keep_wrong(name, *value, "a count");
    return otherwise;
  }

  double real(std::string_view name, double otherwise) {
    const boost::json::value* value = find(name);
    if (value == nullptr) return otherwise;
    const double number = value->is_double()  ? value->get_double()
                          : value->is_int64() ? static_cast<double>(value->get_int64())
                                              : std::numeric_limits<double>::quiet_NaN();
    if (number > 0 && std::isfinite(number)) return number;
    keep_wrong(name, *value, "a positive number");
    return otherwise;
  }

  bool flag(std::string_view name, bool otherwise) {
    const boost::json::value* value = find(name);
    if (value == nullptr) return otherwise;
    if (value->is_bool()) return value->get_bool();
    keep_wrong(name, *value, "true or false");
    return otherwise;
  }

  std::string word(std::string_view name, std::string_view otherwise) {
    const boost::json::value* value = find(name);
    if (value == nullptr) return std::string(otherwise);
    if (value->is_string()) return std::string(value->get_string());
    keep_wrong(name, *value, "a text");
    return std::string(otherwise);
  }

  // A token's number, or a list of some.
  std::vector<std::int32_t> tokens(std::string_view name) {
    const boost::json::value* value = find(name);
    if (value == nullptr) return {};
    std::vector<std::int32_t> numbers;
    const auto add = [&](const boost::json::value& one) {
      if (one.is_int64() && one.get_int64() >= 0 &&
          one.get_int64() <= std::numeric_limits<std::int32_t>::max()) {
        numbers.push_back(static_cast<std::int32_t>(one.get_int64()));
      } else {
        keep_wrong(name, one, "a token's number");
      }
    };
    if (!value->is_array()) add(*value);
    if (value->is_array()) std::ranges::for_each(value->get_array(), add);
    return numbers;
  }

  void keep(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void keep_wrong(std::string_view name,
                  const boost::json::value& value,
                  std::string_view expected) {
    const std::string found = value.is_string()
                                  ? "the text " + shown(std::string(value.get_string()))
                                  : shown(boost::json::serialize(value));
    keep("has '" + path_ + std::string(name) + "' = " + found + "; expected " +
         std::string(expected));
  }

 private:
  const boost::json::object& object_;
  std::string path_;
  std::string problem_;
};

}  // namespace kv::model
