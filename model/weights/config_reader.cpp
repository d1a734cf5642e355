#include "kvcheck/model/weights/config_reader.h"

#include <cmath>
#include <limits>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::model {
namespace {

namespace json = boost::json;

// A positive number, or none.
double positive(const json::value& value) {
  const double number = value.is_double()  ? value.get_double()
                        : value.is_int64() ? static_cast<double>(value.get_int64())
                                           : 0.0;
  return number > 0 && std::isfinite(number) ? number : 0.0;
}

std::string found_as(const json::value& value) {
  if (value.is_string()) return "the text " + shown(std::string(value.get_string()));
  // Boost writes 128.0 as 1.28E2, and a count must not look like one that is right.
  if (value.is_double()) {
    const std::string number = shortest(value.get_double());
    const bool whole = number.find_first_not_of("-0123456789") == std::string::npos;
    return shown(number + (whole ? ".0" : ""));
  }
  return shown(json::serialize(value));
}

}  // namespace

ConfigReader::ConfigReader(const json::object& object, std::string path)
    : object_(object), path_(std::move(path)) {}

const json::value* ConfigReader::find(std::string_view name) {
  asked_.emplace(name);
  const json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::size_t ConfigReader::count(std::string_view name) {
  if (find(name) == nullptr) keep("has no '" + path_ + std::string(name) + "'");
  return count(name, 0);
}

std::size_t ConfigReader::count(std::string_view name, std::size_t otherwise) {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->is_int64() && value->get_int64() >= 0) {
    return static_cast<std::size_t>(value->get_int64());
  }
  keep_wrong(name, *value, "a count");
  return otherwise;
}

double ConfigReader::real(std::string_view name, double otherwise) {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (const double number = positive(*value); number > 0) return number;
  keep_wrong(name, *value, "a positive number");
  return otherwise;
}

double ConfigReader::factor(std::string_view name, double otherwise) {
  const double number = real(name, otherwise);
  if (find(name) == nullptr || (number >= 1e-6 && number <= 1e6)) return number;
  keep_wrong(name, *find(name), "a number from 1e-6 to 1e6");
  return otherwise;
}

bool ConfigReader::flag(std::string_view name, bool otherwise) {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->get_bool();
  keep_wrong(name, *value, "true or false");
  return otherwise;
}

std::string ConfigReader::word(std::string_view name, std::string_view otherwise) {
  const json::value* value = find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return std::string(value->get_string());
  keep_wrong(name, *value, "a text");
  return std::string(otherwise);
}

std::vector<double> ConfigReader::reals(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return {};
  std::vector<double> numbers;
  if (value->is_array()) {
    for (const json::value& one : value->get_array()) numbers.push_back(positive(one));
  }
  for (const double number : numbers) {
    if (number > 0) continue;
    numbers.clear();
    break;
  }
  if (numbers.empty()) keep_wrong(name, *value, "a list of positive numbers");
  return numbers;
}

std::vector<std::string> ConfigReader::words(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::string> list;
  const bool is_list = value->is_array();
  for (std::size_t i = 0; is_list && i < value->get_array().size(); ++i) {
    const json::value& one = value->get_array()[i];
    if (one.is_string()) list.emplace_back(one.get_string());
  }
  if (!is_list || list.size() != value->get_array().size()) {
    keep_wrong(name, *value, "a list of words");
  }
  return list;
}

std::vector<std::int32_t> ConfigReader::tokens(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::int32_t> numbers;
  const auto add = [&](const json::value& one) {
    if (one == -1) return;  // older configurations' word for none
    if (one.is_int64() && one.get_int64() >= 0 &&
        one.get_int64() <= std::numeric_limits<std::int32_t>::max()) {
      numbers.push_back(static_cast<std::int32_t>(one.get_int64()));
    } else {
      keep_wrong(name, one, "a token's number");
    }
  };
  if (!value->is_array()) add(*value);
  for (std::size_t i = 0; value->is_array() && i < value->get_array().size(); ++i) {
    add(value->get_array()[i]);
  }
  return numbers;
}

void ConfigReader::require(std::string_view name, const json::value& only) {
  const json::value* value = find(name);
  if (value == nullptr || *value == only) return;
  keep_wrong(name, *value, json::serialize(only) + ", because nothing else is implemented");
}

void ConfigReader::require_equal(std::string_view one, std::string_view other) {
  const json::value* first = find(one);
  const json::value* second = find(other);
  if (first == nullptr || second == nullptr || *first == *second) return;
  keep_wrong(other, *second, "the value of '" + std::string(one) + "', " + found_as(*first));
}

void ConfigReader::ignore(std::span<const std::string_view> names) {
  asked_.insert(names.begin(), names.end());
}

void ConfigReader::finish(std::string_view of) {
  for (const auto& [name, value] : object_) {
    if (value.is_null() || asked_.contains(std::string_view(name))) continue;
    keep("has an entry '" + path_ + printable_line(std::string_view(name)) +
         "' = " + found_as(value) + " that kvcheck does not know in " + std::string(of) +
         "; expected only entries that it uses or knows to change nothing");
  }
}

void ConfigReader::keep(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

void ConfigReader::keep_wrong(std::string_view name,
                              const json::value& value,
                              std::string_view expected) {
  keep("has '" + path_ + std::string(name) + "' = " + found_as(value) + "; expected " +
       std::string(expected));
}

}  // namespace kv::model
