#include "kvcheck/reports/hypotheses/decide.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kvcheck/reports/compare/complete_runs.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/compare/run_sizes.h"
#include "kvcheck/reports/hypotheses/growth.h"
#include "kvcheck/reports/hypotheses/json_findings.h"
#include "kvcheck/reports/numbers/bootstrap.h"
#include "kvcheck/reports/numbers/paired_shares.h"

namespace kv::reports {
namespace {

constexpr std::array<std::string_view, 4> verdict_words = {"holds", "holds in part",
                                                           "does not hold", "not decided"};

Interval exponential(const Interval& of) {
  return {.mean = std::exp(of.mean), .low = std::exp(of.low), .high = std::exp(of.high)};
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

const Measure& measure_of(const Condition& condition) {
  return *measure_named(condition.measure == "perplexity" ? "loss" : condition.measure);
}

// Results files by path, each read once, with all their complete runs.
class ResultsFiles {
 public:
  Result<const std::vector<StoredRun>*> at(const std::string& path) {
    if (const auto known = runs_.find(path); known != runs_.end()) return &known->second;
    auto runs = complete_runs(path);
    if (!runs) return runs.error();
    if (runs->empty()) return usage_error("'" + path + "' has no complete run");
    return &runs_.emplace(path, *std::move(runs)).first->second;
  }

 private:
  std::map<std::string, std::vector<StoredRun>> runs_;
};

Result<const MeasuredSpec*> spec_named(const MeasuredTexts& all,
                                       const std::string& words,
                                       std::string_view field) {
  const std::vector<const MeasuredSpec*> found = specs_named(words, all);
  if (found.size() > 1) {
    return usage_error(std::string(field) + " '" + words + "' stands for " + found[0]->canonical +
                       " and " + found[1]->canonical + "; expected one spec");
  }
  if (found.size() == 1) return found.front();
  return usage_error(std::string(field) + " '" + words + "' is of no spec that was measured so");
}

// That a condition has to say which of several sizes it is about, as they are not different texts.
Error which_of(const Condition& condition,
               const std::vector<std::size_t>& sizes,
               const std::string& of,
               const std::string& field) {
  return usage_error("'" + condition.results + "' has " + of + " " + std::to_string(sizes[0]) +
                     " and " + std::to_string(sizes[1]) + (sizes.size() > 2 ? " and others" : "") +
                     "; expected a " + field);
}

// Error: the file has results of several settings.
Result<void> check_settings(const Condition& condition, const std::vector<StoredRun>& runs) {
  const std::set<std::string> settings = settings_in(runs, measure_of(condition).in);
  if (settings.size() < 2) return {};
  return usage_error("'" + condition.results + "' has results of " + *settings.begin() +
                     " and of " + *settings.rbegin() +
                     ", which are not different texts; expected a file of one");
}

// Error: the file holds no heads of the condition's layer.
Result<void> check_layer(const Condition& condition, const std::vector<StoredRun>& runs) {
  const std::vector<std::size_t> layers = layers_of(runs);
  if (std::ranges::find(layers, *condition.layer) != layers.end()) return {};
  return usage_error("'" + condition.results + "' has no heads of layer " +
                     std::to_string(*condition.layer) + "; expected " +
                     (layers.empty() ? "replays that keep their heads"
                                     : "another, such as " + std::to_string(layers[0])));
}

Result<Selection> selection_of(const Condition& condition, const std::vector<StoredRun>& runs) {
  const Selection selection{.window = condition.window,
                            .length = condition.length,
                            .layer = condition.layer,
                            .accepts = {},
                            .spread = condition.spread};
  const MeasuredIn in = measure_of(condition).in;
  const std::vector<std::size_t> windows = windows_of(runs);
  if (in == MeasuredIn::evaluations && !condition.window && windows.size() > 1) {
    return which_of(condition, windows, "texts in windows of", "window");
  }
  const std::string prefixes = prefixes_in(runs, condition.window);
  if (in == MeasuredIn::evaluations && !prefixes.empty()) {
    return usage_error("'" + condition.results + "' has evaluations of " + prefixes +
                       ", which are not different texts; expected a file of one length");
  }
  const std::vector<std::size_t> lengths = lengths_of(runs);
  if (in == MeasuredIn::timings && !condition.length && lengths.size() > 1) {
    return which_of(condition, lengths, "prompts of", "length");
  }
  if (condition.layer) {
    if (auto there = check_layer(condition, runs); !there) return there.error();
  }
  return selection;
}

// The values of both specs at the texts that have both.
struct Pairs {
  std::vector<double> of{};
  std::vector<double> against{};
};

Pairs pairs_of(const MeasuredSpec& of, const MeasuredSpec& against) {
  Pairs pairs;
  for (std::size_t text = 0; text < of.values.size(); ++text) {
    if (std::isnan(of.values[text]) || std::isnan(against.values[text])) continue;
    pairs.of.push_back(of.values[text]);
    pairs.against.push_back(against.values[text]);
  }
  return pairs;
}

Interval value_of(const Condition& condition, const Pairs& pairs) {
  const bool logarithms = condition.measure == "perplexity";
  const bool shares = measure_of(condition).share_of_answers && !condition.spread;
  if (condition.quantity == Quantity::mean) {
    // A deviation over seeds is no share.
    const Interval mean = condition.spread ? bootstrap_interval(pairs.of)
                                           : mean_interval(measure_of(condition), pairs.of);
    return logarithms ? exponential(mean) : mean;
  }
  if (condition.quantity == Quantity::ratio && !logarithms) {
    return shares ? share_ratio(pairs.of, pairs.against) : ratio_interval(pairs.of, pairs.against);
  }
  if (shares) return share_difference(pairs.of, pairs.against);
  std::vector<double> differences(pairs.of.size());
  std::ranges::transform(pairs.of, pairs.against, differences.begin(), std::minus<>());
  const Interval difference = bootstrap_interval(differences);
  return logarithms ? exponential(difference) : difference;
}

Result<DecidedCondition> decide_numbers(const Condition& condition, ResultsFiles& files) {
  const auto runs = files.at(condition.results);
  if (!runs) return runs.error();
  if (auto one = check_settings(condition, **runs); !one) return one.error();
  const auto selection = selection_of(condition, **runs);
  if (!selection) return selection.error();
  const Measure& measure = measure_of(condition);
  const MeasuredTexts all = measured(**runs, measure, *selection);
  const auto of = spec_named(all, condition.of, "of");
  if (!of) return of.error();
  const bool two = condition.quantity != Quantity::mean;
  const auto against = two ? spec_named(all, condition.against, "against") : of;
  if (!against) return against.error();
  const Pairs pairs = pairs_of(**of, **against);
  if (pairs.of.empty()) {
    return usage_error("'" + condition.results + "' has no text on which both " +
                       (condition.spread ? "ran with two seeds" : "were measured"));
  }
  DecidedCondition decided{.condition = condition,
                           .value = value_of(condition, pairs),
                           .of_mean = mean_of(pairs.of),
                           .against_mean = mean_of(pairs.against),
                           .texts = pairs.of.size()};
  if (condition.measure == "perplexity") {
    decided.of_mean = std::exp(decided.of_mean);
    decided.against_mean = std::exp(decided.against_mean);
  }
  if (std::isnan(decided.value.mean)) {
    return usage_error("the mean of '" + condition.against + "' is 0, by which nothing is divided");
  }
  decided.verdict = verdict_on(decided.value, condition.bounds);
  return decided;
}

Result<DecidedCondition> decide_growth(const Condition& condition, ResultsFiles& files) {
  const auto runs = files.at(condition.results);
  if (!runs) return runs.error();
  if (auto one = check_settings(condition, **runs); !one) return one.error();
  const auto exponents = growth_exponents(condition, **runs);
  if (!exponents) return exponents.error();
  DecidedCondition decided{
      .condition = condition,
      .value = bootstrap_interval(*exponents),
      .texts = exponents->size(),
  };
  decided.verdict = verdict_on(decided.value, condition.bounds);
  return decided;
}

Result<DecidedCondition> decide_finding(const Condition& condition) {
  const auto finding = condition.quantity == Quantity::law
                           ? law_finding(condition.results, condition.of)
                           : uniformity_finding(condition.results, condition.of);
  if (!finding) return finding.error();
  return DecidedCondition{
      .condition = condition, .verdict = finding->verdict, .found = finding->words};
}

Result<DecidedCondition> decide_one(const Condition& condition, ResultsFiles& files) {
  switch (condition.quantity) {
    case Quantity::law:
    case Quantity::uniform:
      return decide_finding(condition);
    case Quantity::growth:
      return decide_growth(condition, files);
    case Quantity::mean:
    case Quantity::difference:
    case Quantity::ratio:
      break;
  }
  return decide_numbers(condition, files);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  return verdict_words.at(static_cast<std::size_t>(verdict));
}

Verdict verdict_on(const Interval& value, const Bounds& bounds) {
  if (std::isnan(value.low) || std::isnan(value.high)) return Verdict::undecided;
  const bool too_low = bounds.above && value.high <= *bounds.above;
  const bool too_high = bounds.below && value.low >= *bounds.below;
  if (too_low || too_high) return Verdict::fails;
  const bool high_enough = !bounds.above || value.low > *bounds.above;
  const bool low_enough = !bounds.below || value.high < *bounds.below;
  return high_enough && low_enough ? Verdict::holds : Verdict::undecided;
}

Verdict verdict_on(const std::vector<DecidedCondition>& conditions) {
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(conditions, verdict, &DecidedCondition::verdict);
  };
  if (count(Verdict::fails) > 0)
    return count(Verdict::holds) > 0 ? Verdict::in_part : Verdict::fails;
  return count(Verdict::undecided) > 0 ? Verdict::undecided : Verdict::holds;
}

Result<std::vector<DecidedHypothesis>> decide(const std::vector<Hypothesis>& hypotheses,
                                              const std::string& name) {
  ResultsFiles files;
  std::vector<DecidedHypothesis> out;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    DecidedHypothesis& decided = out.emplace_back();
    decided.hypothesis = hypotheses[i];
    for (std::size_t k = 0; k < hypotheses[i].conditions.size(); ++k) {
      const Condition& condition = hypotheses[i].conditions[k];
      auto one = decide_one(condition, files);
      if (!one) {
        return Error{one.error().kind, "'" + name + "': hypotheses[" + std::to_string(i) +
                                           "].conditions[" + std::to_string(k) +
                                           "]: " + one.error().message};
      }
      decided.conditions.push_back(*std::move(one));
    }
    decided.verdict = verdict_on(decided.conditions);
  }
  return out;
}

}  // namespace kv::reports
