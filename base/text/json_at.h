// Reading JSON with complaints that name the field: "answer.events[2].units[0].stored[1]: expected
// a token id, found "x"".
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

// What is wrong with a message. Reading goes on after a complaint, with a value that does no harm,
// so that one reading tells all.
struct Complaints {
  bool strict = false;  // unknown fields are complained of too
  std::vector<std::string> lines;
};

// A place in a message. Must not outlive the value, the complaints and the place it came from.
class JsonAt {
 public:
  JsonAt(const boost::json::value& value, std::string_view name, Complaints& complaints)
      : value_(&value), name_(name), complaints_(&complaints) {}

  // The field of that name; nothing if there is none, or it is null.
  [[nodiscard]] std::optional<JsonAt> find(std::string_view name) const;

  // The same; complains when there is none, and then stands for null.
  [[nodiscard]] JsonAt need(std::string_view name) const;

  // Complains of fields that are not in `names`, if the reading is strict, and of what is no
  // object.
  void only(std::initializer_list<std::string_view> names) const;

  // The same, however the reading: for declarations, where a misspelt field would declare nothing.
  void only_ever(std::initializer_list<std::string_view> names) const;

  // Elements of an array; complains of what is none, and then there are 0.
  [[nodiscard]] std::size_t size(std::string_view what) const;
  [[nodiscard]] JsonAt operator[](std::size_t index) const;

  [[nodiscard]] bool is_array() const { return value_->is_array(); }

  [[nodiscard]] bool is_object() const { return value_->is_object(); }

  [[nodiscard]] bool is_string() const { return value_->is_string(); }

  // A whole number in [least, most]; complains of anything else and gives `least`.
  [[nodiscard]] std::int64_t integer(std::string_view what,
                                     std::int64_t least,
                                     std::int64_t most) const;

  // A whole number in [0, 2^64).
  [[nodiscard]] std::uint64_t unsigned64(std::string_view what) const;

  // A number; null is NaN. Complains of anything else.
  [[nodiscard]] double number(std::string_view what) const;

  [[nodiscard]] bool boolean(std::string_view what) const;

  [[nodiscard]] std::string text(std::string_view what) const;

  void complain(std::string_view sentence) const;

  // Complains that `what` was expected and this was found.
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
