#include "kvcheck/model/gguf/metadata.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"

namespace kv::model {

const GgufValue* MetadataReader::find(std::string_view name) {
  asked_.emplace(name);
  const auto found = gguf_.metadata.find(name);
  return found == gguf_.metadata.end() ? nullptr : &found->second;
}

void MetadataReader::keep(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

void MetadataReader::keep_wrong(std::string_view name, const std::string& expected) {
  keep("has " + shown(name) + " = " + find(name)->described() + "; expected " + expected);
}

std::optional<std::uint64_t> MetadataReader::count(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  std::optional<std::uint64_t> one = value->count();
  if (const auto list = value->counts(); list && !list->empty()) {
    const bool equal = std::ranges::all_of(*list, [&](auto next) { return next == list->front(); });
    if (equal) one = list->front();
    if (!equal) keep_wrong(name, "one count, or as many equal ones as there are layers");
  }
  // Above any size of a model, and what a token's number can be.
  if (one && *one < std::uint64_t{1} << 31) return one;
  keep_wrong(name, "a count below 2^31");
  return {};
}

std::optional<double> MetadataReader::number(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (const auto one = value->number(); one && std::isfinite(*one)) return one;
  keep_wrong(name, "a finite number, as f32 or f64");
  return {};
}

std::optional<bool> MetadataReader::flag(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (const auto one = value->flag()) return one;
  keep_wrong(name, "a flag");
  return {};
}

std::optional<std::string> MetadataReader::text(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (const auto one = value->text()) return std::string(*one);
  keep_wrong(name, "a text");
  return {};
}

std::optional<std::vector<double>> MetadataReader::numbers(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (auto list = value->numbers()) return list;
  keep_wrong(name, "a list of numbers");
  return {};
}

std::optional<std::vector<std::uint64_t>> MetadataReader::counts(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (auto list = value->counts()) return list;
  keep_wrong(name, "a list of counts");
  return {};
}

std::optional<std::vector<std::string_view>> MetadataReader::texts(std::string_view name) {
  const GgufValue* value = find(name);
  if (value == nullptr) return {};
  if (auto list = value->texts()) return list;
  keep_wrong(name, "a list of texts");
  return {};
}

std::uint64_t MetadataReader::needed_count(std::string_view name) {
  if (!has(name)) keep("has no metadata entry " + shown(name) + "; expected a count");
  return count(name).value_or(0);
}

double MetadataReader::needed_number(std::string_view name) {
  if (!has(name)) keep("has no metadata entry " + shown(name) + "; expected a number");
  return number(name).value_or(0);
}

void MetadataReader::require_count(std::string_view name, std::uint64_t only) {
  if (!has(name) || count(name) == only) return;
  keep_wrong(name, std::to_string(only) + ", as kvcheck implements no other");
}

void MetadataReader::require_flag(std::string_view name, bool only) {
  if (!has(name) || flag(name) == only) return;
  keep_wrong(name, std::string(only ? "true" : "false") + ", as kvcheck implements no other");
}

void MetadataReader::require_number(std::string_view name, double only) {
  if (!has(name) || number(name) == only) return;
  keep_wrong(name, shortest(only) + ", as kvcheck implements no other");
}

void MetadataReader::ignore_all(std::string_view begin) {
  for (const auto& [name, value] : gguf_.metadata) {
    if (name.starts_with(begin)) asked_.insert(name);
  }
}

void MetadataReader::finish(std::string_view of, std::string_view begin) {
  for (const auto& [name, value] : gguf_.metadata) {
    if (asked_.contains(name) || !name.starts_with(begin)) continue;
    return keep("has " + shown(name) + " = " + value.described() +
                ", which kvcheck does not know in " + std::string(of) +
                "; expected only entries that it obeys");
  }
}

}  // namespace kv::model
