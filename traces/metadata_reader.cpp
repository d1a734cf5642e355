#include "kvcheck/traces/metadata_reader.h"

#include <limits>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/metadata.h"

namespace kv {

std::string MetadataReader::text(const std::string& name, const std::string& otherwise) const {
  const auto at = entries_.find(name);
  return at == entries_.end() ? otherwise : at->second;
}

void MetadataReader::keep(const std::string& problem) {
  if (problem_.empty()) problem_ = problem;
}

std::size_t MetadataReader::index_of(const std::string& name,
                                     std::string_view value,
                                     std::span<const std::string_view> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == value) return i;
  }
  keep("__metadata__: " + unknown_word(name, value, words));
  return 0;
}

std::size_t MetadataReader::word(const std::string& name, std::span<const std::string_view> words) {
  const auto at = entries_.find(name);
  if (at != entries_.end()) return index_of(name, at->second, words);
  keep("__metadata__ has no '" + name + "'");
  return 0;
}

std::optional<std::uint64_t> MetadataReader::count_of(const std::string& name,
                                                      std::string_view value,
                                                      std::uint64_t largest) {
  const auto count = parse_count(value, name, 1, largest);
  if (count) return *count;
  keep("__metadata__: " + count.error().message);
  return {};
}

std::optional<double> MetadataReader::positive_of(const std::string& name, std::string_view value) {
  const auto number = parse_real(value, name, std::numeric_limits<double>::min(),
                                 std::numeric_limits<double>::max());
  if (number) return *number;
  keep("__metadata__: " + number.error().message);
  return {};
}

std::size_t MetadataReader::count(const std::string& name, std::uint64_t largest) {
  if (!has(name)) return 0;
  return static_cast<std::size_t>(count_of(name, entries_.at(name), largest).value_or(0));
}

double MetadataReader::positive(const std::string& name, double otherwise) {
  return has(name) ? positive_of(name, entries_.at(name)).value_or(otherwise) : otherwise;
}

std::vector<std::string_view> MetadataReader::values(const std::string& name) {
  if (!has(name)) return {};
  std::vector<std::string_view> found = split(entries_.at(name), ',');
  if (found.size() == 1) return found;
  const auto count_text = [](std::size_t count) { return std::to_string(count) + " values"; };
  if (found.size() > largest_dimension) {
    keep("__metadata__: " + name + " has " + count_text(found.size()) + "; expected at most " +
         std::to_string(largest_dimension));
    found.resize(1);
  } else if (listed_.empty()) {
    listed_ = name;
    list_size_ = found.size();
  } else if (found.size() != list_size_) {
    keep("__metadata__: " + name + " has " + count_text(found.size()) + " and " + listed_ +
         " has " + count_text(list_size_) + "; expected one for each recorded layer");
  }
  return found;
}

std::vector<std::size_t> MetadataReader::words(const std::string& name,
                                               std::span<const std::string_view> words,
                                               std::size_t otherwise) {
  if (!has(name)) return {otherwise};
  std::vector<std::size_t> result;
  for (const std::string_view value : values(name)) result.push_back(index_of(name, value, words));
  return result;
}

std::vector<std::size_t> MetadataReader::counts(const std::string& name, std::uint64_t largest) {
  if (!has(name)) return {0};
  std::vector<std::size_t> result;
  for (const std::string_view value : values(name)) {
    result.push_back(value == "none" ? 0 : count_of(name, value, largest).value_or(0));
  }
  return result;
}

std::vector<double> MetadataReader::positives(const std::string& name,
                                              double otherwise,
                                              bool none) {
  if (!has(name)) return {otherwise};
  std::vector<double> result;
  for (const std::string_view value : values(name)) {
    const bool absent = none && value == "none";
    result.push_back(absent ? 0 : positive_of(name, value).value_or(otherwise));
  }
  return result;
}

}  // namespace kv
