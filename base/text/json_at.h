// Reads JSON and reports every error with the path of its field:
// "answer.events[2].units[0].stored[1]: expected a token id, found "x"".
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

// The errors found in a message. Reading continues after an error with a harmless value, so that
// one pass finds all errors.
struct Complaints {
  bool strict = false;  // unknown fields are errors too
  std::vector<std::string> lines;
};

// A place in a message. Must not outlive the value, the complaints and the place it came from.
class JsonAt {
 public:
  JsonAt(const boost::json::value& value, std::string_view name, Complaints& complaints)
      : value_(&value), name_(name), complaints_(&complaints) {}

  // The field with that name; nothing if it is missing or null.
  [[nodiscard]] std::optional<JsonAt> find(std::string_view name) const;

  // The same, but a missing field is an error, and the result then stands for null.
  [[nodiscard]] JsonAt need(std::string_view name) const;

  // Reports a value that is not an object and, if reading is strict, every field that is not in
  // `names`.
  void only(std::initializer_list<std::string_view> names) const;

  // The same, but strict in every reading: in a declaration a misspelt field would have no effect.
  void only_ever(std::initializer_list<std::string_view> names) const;
  void only_ever(std::span<const std::string_view> names) const;

  // The number of elements of an array. Anything else is an error and has 0 elements.
  [[nodiscard]] std::size_t size(std::string_view what) const;
  [[nodiscard]] JsonAt operator[](std::size_t index) const;

  [[nodiscard]] bool is_array() const { return value_->is_array(); }

  [[nodiscard]] bool is_object() const { return value_->is_object(); }

  [[nodiscard]] bool is_string() const { return value_->is_string(); }

  // A whole number in [least, most]. Anything else is an error and reads as `least`.
  [[nodiscard]] std::int64_t integer(std::string_view what,
                                     std::int64_t least,
                                     std::int64_t most) const;

  // A whole number in [0, 2^64). Anything else is an error and reads as 0.
  [[nodiscard]] std::uint64_t unsigned64(std::string_view what) const;

  // A number; null reads as NaN. Anything else is an error and reads as 0.
  [[nodiscard]] double number(std::string_view what) const;

  [[nodiscard]] bool boolean(std::string_view what) const;

  [[nodiscard]] std::string text(std::string_view what) const;

  void complain(std::string_view sentence) const;

  // Reports that `what` was expected and that this value was found.
  void expected(std::string_view what) const;

  [[nodiscard]] std::string path() const;

 private:
  JsonAt(const boost::json::value& value, const JsonAt& parent, std::string_view name)
      : value_(&value), parent_(&parent), name_(name), complaints_(parent.complaints_) {}

  JsonAt(const boost::json::value& value, const JsonAt& parent, std::size_t index)
      : value_(&value), parent_(&parent), index_(index), complaints_(parent.complaints_) {}

  const boost::json::value* value_;
  const JsonAt* parent_ = nullptr;
  std::string_view name_{};
  std::size_t index_ = 0;
  Complaints* complaints_;
};

}  // namespace kv
