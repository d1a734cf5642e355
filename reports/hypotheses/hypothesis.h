// Statements about results with the conditions that decide them, as a file writes them down before
// anything is measured. docs/statistics.md describes the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::reports {

// What a condition is about.
enum class Quantity {
  mean,        // of one spec
  difference,  // of two specs: the first one's mean - the other's
  ratio,       // of two specs: the first one's mean / the other's
  growth,      // of timings: the exponent with which they grow with the length or the budget
  law,         // whether `kvcheck check` found that a law holds
  uniform,     // whether `kvcheck uniformity` found no deviation from a uniform sample
};

// The values that a condition asks for: all above the one and below the other.
struct Bounds {
  std::optional<double> above{};
  std::optional<double> below{};

  bool operator==(const Bounds&) const = default;
};

struct Condition {
  std::string about{};    // which results these are, in words; may be empty
  std::string results{};  // a results file; of a law or a sample, a file of JSON lines
  Quantity quantity = Quantity::mean;
  // Of numbers: a measure (reports/compare/measured.h), or "perplexity", which is the exponential
  // of the measure loss.
  std::string measure{};
  std::string of{};       // the spec; of a law its id
  std::string against{};  // the other spec of a difference or ratio
  bool spread = false;    // values are standard deviations over seeds, not means over them
  std::optional<std::size_t> window{};  // of evaluations
  std::optional<std::size_t> length{};  // of timings, of the prompt; of a growth with the budget
  std::optional<std::size_t> layer{};   // of replays: the heads of this layer alone
  Bounds bounds{};                      // of numbers

  bool operator==(const Condition&) const = default;
};

// Holds if all of its conditions do.
struct Hypothesis {
  std::string text;
  std::string source{};  // of the statement; may be empty
  std::string note{};    // what a reader should know beside the verdict; may be empty
  std::vector<Condition> conditions{};

  bool operator==(const Hypothesis&) const = default;
};

// "mean", "difference", "ratio", "growth", "law" or "uniform", as in the file.
std::string_view name_of(Quantity quantity);

// The hypotheses of a file, at least one, each with at least one condition. `name` is the file's,
// for errors, which name the line or the field: no JSON; an unknown field, measure or quantity;
// bounds that nothing can meet; a condition without what it needs.
Result<std::vector<Hypothesis>> parse_hypotheses(std::string_view json, const std::string& name);

// A file from which the same are parsed.
std::string hypotheses_json(const std::vector<Hypothesis>& hypotheses);

}  // namespace kv::reports
