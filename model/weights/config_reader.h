// The entries of a configuration, read by name. Private to model/weights.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv::model {

// Reads entries one by one and keeps the first error. It also keeps which names were asked for, so
// that finish() finds those that nothing read: an entry that is ignored may change the numbers.
class ConfigReader {
 public:
  ConfigReader(const boost::json::object& object, std::string path);

  [[nodiscard]] const std::string& problem() const { return problem_; }

  // An entry that is null counts as missing: exporters write null for a default.
  [[nodiscard]] const boost::json::value* find(std::string_view name);

  // Whether the entry is there, be it null: some families' defaults are not null.
  [[nodiscard]] bool given(std::string_view name) const { return object_.contains(name); }

  // Each of these is an error if the entry has another type; those without a second argument are
  // errors if it is missing.
  std::size_t count(std::string_view name);
  std::size_t count(std::string_view name, std::size_t otherwise);
  // A positive number.
  double real(std::string_view name, double otherwise);
  bool flag(std::string_view name, bool otherwise);
  std::string word(std::string_view name, std::string_view otherwise);
  // The same for a factor of the forward pass: 1e-6 to 1e6, so that its square is a float.
  double factor(std::string_view name, double otherwise);
  // Positive numbers; empty if the entry is missing.
  std::vector<double> reals(std::string_view name);
  // Words; empty if the entry is missing.
  std::vector<std::string> words(std::string_view name);
  // A token's number, or a list of some.
  std::vector<std::int32_t> tokens(std::string_view name);

  // An error if the entry is there with another value: it would change what the model computes in a
  // way that is not implemented.
  void require(std::string_view name, const boost::json::value& only);

  // An error if both entries are there and differ: they are two names of one thing.
  void require_equal(std::string_view one, std::string_view other);

  // Entries that change nothing of what is computed here.
  void ignore(std::span<const std::string_view> names);

  // An error if there is an entry that nothing asked for; `of` says in which configuration.
  void finish(std::string_view of);

  void keep(std::string problem);
  void keep_wrong(std::string_view name,
                  const boost::json::value& value,
                  std::string_view expected);

 private:
  const boost::json::object& object_;
  std::string path_;
  std::string problem_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace kv::model
