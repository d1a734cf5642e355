#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/json_line.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/json_value.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/hypotheses/hypothesis.h"

namespace kv::reports {
namespace {

constexpr std::array<std::string_view, 6> quantities = {"mean",   "difference", "ratio",
                                                        "growth", "law",        "uniform"};
constexpr std::string_view perplexity = "perplexity";

std::string text_at(const JsonAt& at) {
  std::string text = at.text("a text");
  if (text.empty() && at.is_string()) at.complain("the text is empty");
  return text;
}

// An empty text if there is no such field.
std::string text_if(const JsonAt& at, std::string_view name) {
  const auto field = at.find(name);
  return field ? text_at(*field) : std::string();
}

double bound_at(const JsonAt& at) {
  const double bound = at.number("a number");
  if (!std::isfinite(bound)) at.complain("expected a finite number");
  return std::isfinite(bound) ? bound : 0;
}

Bounds bounds_at(const JsonAt& at) {
  at.only_ever({"above", "below"});
  Bounds bounds;
  if (const auto above = at.find("above")) bounds.above = bound_at(*above);
  if (const auto below = at.find("below")) bounds.below = bound_at(*below);
  if (!bounds.above && !bounds.below) at.complain("expected above, below or both");
  if (bounds.above && bounds.below && *bounds.above >= *bounds.below) {
    at.complain("no value is above " + shortest(*bounds.above) + " and below " +
                shortest(*bounds.below));
  }
  return bounds;
}

std::string measure_at(const JsonAt& at, Quantity quantity) {
  std::string measure = text_at(at);
  std::vector<std::string_view> names = {perplexity};
  for (const Measure& known : measures()) names.push_back(known.name);
  const Measure* const known = measure_named(measure);
  const bool timed = known != nullptr && known->in == MeasuredIn::timings;
  if (std::ranges::find(names, measure) == names.end()) {
    at.complain(unknown_word("measure", measure, names));
  } else if (measure == perplexity && quantity == Quantity::difference) {
    at.complain("perplexities are compared by their ratio; expected loss, or a ratio");
  } else if (quantity == Quantity::growth && !timed) {
    at.complain("expected a measure of timings, which grow with a length or a budget");
  }
  return measure;
}

std::optional<std::size_t> number_if(const JsonAt& at,
                                     std::string_view name,
                                     const std::string& what) {
  const auto field = at.find(name);
  if (!field) return std::nullopt;
  return static_cast<std::size_t>(
      field->integer(what, 0, std::numeric_limits<std::int32_t>::max()));
}

// The one quantity that the condition is about.
Quantity quantity_at(const JsonAt& at) {
  std::vector<Quantity> found;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    if (at.find(quantities[i])) found.push_back(static_cast<Quantity>(i));
  }
  if (found.size() == 1) return found.front();
  at.complain(found.empty() ? "expected one of mean, difference, ratio, growth, law and uniform"
                            : "expected one of " + std::string(name_of(found[0])) + " and " +
                                  std::string(name_of(found[1])) + ", found both");
  return Quantity::mean;
}

// A law or a sample: what its name is of, and nothing about numbers.
void read_finding(const JsonAt& at, Condition& condition) {
  const std::string_view name = name_of(condition.quantity);
  condition.of = text_at(at.need(name));
  at.only_ever({"about", "results", name});
}

// Fields that would have no effect, or none that a reader expects.
void check_fields(const JsonAt& at, const Condition& condition) {
  const Measure* const known = measure_named(condition.measure);
  const MeasuredIn in = known == nullptr ? MeasuredIn::evaluations : known->in;
  if (condition.spread && condition.quantity == Quantity::growth) {
    at.need("spread").complain("a growth has no spread over seeds");
  } else if (condition.spread && condition.measure == perplexity) {
    at.need("spread").complain("perplexity has no spread here; expected the measure loss");
  } else if (condition.spread && in == MeasuredIn::timings) {
    at.need("spread").complain("timings have one seed; expected another measure");
  }
  if (condition.window && in != MeasuredIn::evaluations) {
    at.need("window").complain("only evaluations have windows");
  }
  if (condition.length && in != MeasuredIn::timings) {
    at.need("length").complain("only timings have a length");
  }
  if (condition.layer && in != MeasuredIn::replays) {
    at.need("layer").complain("only replays have layers");
  }
}

void read_numbers(const JsonAt& at, Condition& condition) {
  const std::string_view name = name_of(condition.quantity);
  const bool two =
      condition.quantity == Quantity::difference || condition.quantity == Quantity::ratio;
  condition.bounds = bounds_at(at.need(name));
  condition.measure = measure_at(at.need("measure"), condition.quantity);
  condition.of = text_at(at.need("of"));
  if (two) condition.against = text_at(at.need("against"));
  if (const auto spread = at.find("spread")) condition.spread = spread->boolean("true or false");
  condition.window = number_if(at, "window", "a number of tokens");
  condition.length = number_if(at, "length", "a number of tokens");
  condition.layer = number_if(at, "layer", "the number of a layer");
  check_fields(at, condition);
  std::vector<std::string_view> names = {"about",  "results", "measure", "of", "spread",
                                         "window", "length",  "layer",   name};
  if (two) names.emplace_back("against");
  at.only_ever(names);
}

Condition condition_at(const JsonAt& at) {
  Condition condition{.about = text_if(at, "about"), .results = text_at(at.need("results"))};
  condition.quantity = quantity_at(at);
  if (condition.quantity == Quantity::law || condition.quantity == Quantity::uniform) {
    read_finding(at, condition);
  } else {
    read_numbers(at, condition);
  }
  return condition;
}

std::size_t entries(const JsonAt& list, const std::string& what) {
  const std::size_t count = list.size("a list of " + what);
  if (count == 0 && list.is_array()) list.complain("the list is empty");
  return count;
}

Hypothesis hypothesis_at(const JsonAt& at) {
  at.only_ever({"hypothesis", "source", "note", "conditions"});
  Hypothesis out{.text = text_at(at.need("hypothesis")),
                 .source = text_if(at, "source"),
                 .note = text_if(at, "note")};
  const JsonAt conditions = at.need("conditions");
  const std::size_t count = entries(conditions, "conditions");
  for (std::size_t i = 0; i < count; ++i) out.conditions.push_back(condition_at(conditions[i]));
  return out;
}

std::string bounds_json(const Bounds& bounds) {
  JsonObject object;
  if (bounds.above) object.add("above", *bounds.above);
  if (bounds.below) object.add("below", *bounds.below);
  return object.text();
}

std::string condition_json(const Condition& condition) {
  JsonObject object;
  const auto words = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) object.add(name, std::string_view(value));
  };
  const std::string_view name = name_of(condition.quantity);
  words("about", condition.about);
  words("results", condition.results);
  if (condition.measure.empty()) return object.add(name, std::string_view(condition.of)).text();
  words("measure", condition.measure);
  words("of", condition.of);
  words("against", condition.against);
  if (condition.spread) object.add("spread", true);
  if (condition.window) object.add("window", std::uint64_t{*condition.window});
  if (condition.length) object.add("length", std::uint64_t{*condition.length});
  if (condition.layer) object.add("layer", std::uint64_t{*condition.layer});
  return object.add_raw(name, bounds_json(condition.bounds)).text();
}

std::string hypothesis_json(const Hypothesis& hypothesis) {
  JsonObject object;
  object.add("hypothesis", std::string_view(hypothesis.text));
  if (!hypothesis.source.empty()) object.add("source", std::string_view(hypothesis.source));
  if (!hypothesis.note.empty()) object.add("note", std::string_view(hypothesis.note));
  return object.add_raw("conditions", json_list(hypothesis.conditions, condition_json)).text();
}

}  // namespace

std::string_view name_of(Quantity quantity) {
  return quantities.at(static_cast<std::size_t>(quantity));
}

Result<std::vector<Hypothesis>> parse_hypotheses(std::string_view json, const std::string& name) {
  const auto value = json_value(json, name, "hypotheses");
  if (!value) return value.error();
  Complaints complaints;
  const JsonAt whole(*value, "file", complaints);
  whole.only_ever({"hypotheses"});
  const JsonAt list = whole.need("hypotheses");
  std::vector<Hypothesis> out;
  const std::size_t count = entries(list, "hypotheses");
  for (std::size_t i = 0; i < count; ++i) out.push_back(hypothesis_at(list[i]));
  if (complaints.lines.empty()) return out;
  return with_line(malformed("'" + name + "': " + printable_line(complaints.lines.front())), json,
                   name);
}

std::string hypotheses_json(const std::vector<Hypothesis>& hypotheses) {
  return "{\"hypotheses\":" + json_list(hypotheses, hypothesis_json) + "}\n";
}

}  // namespace kv::reports
