// Reads metadata entries one by one and keeps the first error. Private to traces/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

class MetadataReader {
 public:
  using Entries = std::map<std::string, std::string>;

  explicit MetadataReader(const Entries& entries) : entries_(entries) {}

  // A sentence about the first entry that is wrong; empty while none is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] bool has(const std::string& name) const { return entries_.contains(name); }

  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;

  // The index of the value in `words`. A missing entry is an error.
  std::size_t word(const std::string& name, std::span<const std::string_view> words);

  // 0 for a missing entry.
  std::size_t count(const std::string& name, std::uint64_t largest);
  double positive(const std::string& name, double otherwise);

  // The values of an entry that may differ by layer; one value stands for all layers. A missing
  // entry is one value, `otherwise`. The word "none" is 0 where `none` allows it.
  std::vector<std::size_t> words(const std::string& name,
                                 std::span<const std::string_view> words,
                                 std::size_t otherwise);
  std::vector<std::size_t> counts(const std::string& name, std::uint64_t largest);  // or none
  std::vector<double> positives(const std::string& name, double otherwise, bool none);

  // The first entry that has several values, and how many; all such entries have as many.
  [[nodiscard]] const std::string& listed() const { return listed_; }

  [[nodiscard]] std::size_t list_size() const { return list_size_; }

  void keep(const std::string& problem);

 private:
  std::size_t index_of(const std::string& name,
                       std::string_view value,
                       std::span<const std::string_view> words);
  std::optional<std::uint64_t> count_of(const std::string& name,
                                        std::string_view value,
                                        std::uint64_t largest);
  std::optional<double> positive_of(const std::string& name, std::string_view value);
  std::vector<std::string_view> values(const std::string& name);

  const Entries& entries_;
  std::string problem_;
  std::string listed_;
  std::size_t list_size_ = 1;
};

}  // namespace kv
