// The metadata entries of a GGUF file, read by name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/model/gguf/container.h"

namespace kv::model {

// Reads entries one by one and keeps the first error. It also keeps which names were asked for, so
// that finish() finds those that nothing read: an entry that is ignored may change the numbers.
class MetadataReader {
 public:
  explicit MetadataReader(const Gguf& gguf) : gguf_(gguf) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] bool has(std::string_view name) const { return gguf_.metadata.contains(name); }

  // Each gives nothing if the entry is missing, and keeps an error if it has another type. A count
  // is below 2^31; a list of equal counts, one for each layer, reads as one.
  std::optional<std::uint64_t> count(std::string_view name);
  std::optional<double> number(std::string_view name);  // finite
  std::optional<bool> flag(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::optional<std::vector<double>> numbers(std::string_view name);
  std::optional<std::vector<std::uint64_t>> counts(std::string_view name);
  std::optional<std::vector<std::string_view>> texts(std::string_view name);

  // The same with an error if the entry is missing.
  std::uint64_t needed_count(std::string_view name);
  double needed_number(std::string_view name);

  // An error if the entry is there with another value: it would change what the model computes in a
  // way that is not implemented.
  void require_count(std::string_view name, std::uint64_t only);
  void require_flag(std::string_view name, bool only);
  void require_number(std::string_view name, double only);

  // Entries that change nothing of what is computed here: that name, or all that begin so.
  void ignore(std::string_view name) { asked_.emplace(name); }

  void ignore_all(std::string_view begin);

  // An error if there is an entry that nothing asked for, among those whose names begin so; `of`
  // says in what.
  void finish(std::string_view of, std::string_view begin = "");

  void keep(std::string problem);

 private:
  const GgufValue* find(std::string_view name);
  void keep_wrong(std::string_view name, const std::string& expected);

  const Gguf& gguf_;
  std::string problem_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace kv::model
