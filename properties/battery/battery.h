// The battery: every law that applies, tried on a subject within a budget of cases and of time.
//
// Laws that judge histories share a pool of cases: each case is run once and all of them judge it.
// Relations get cases of their own, statistics their streams. A failing case is shrunk by
// RapidCheck's shrink trees under a bound of its own, since RapidCheck has none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

struct BatteryOptions {
  Effort effort;
  std::vector<std::string> filter;  // ids, or prefixes of ids that end in '*'; empty: all
  double seconds = 0;               // stop starting new work after so many; 0: the level's own
  bool strict = false;              // laws that are not run count as errors
  std::uint32_t cases = 0;          // per law; 0: the level's own
  bool shrink = true;               // no: a broken law has the case that broke it, and no legal_if
  std::function<double()> clock;    // seconds since any start; null: no work is limited by time.
                                    // Child processes call it too.

  // If the user asks to stop, report what was found until then, which takes some seconds.
  bool report_interrupted = false;

  // A subject that takes longer for one case hangs; 0: never. Of subjects in this process only.
  double case_seconds = 20;

  // Called with the share of the work that is done, in [0, 1], and what is at hand; may be null.
  std::function<void(double, std::string_view)> progress;
};

enum class Status {
  held,
  broken,
  not_run,  // it applies, but what it must see never happened, or time ran out: says why
  // Under the contract it does not apply; or the subject rightly refuses what the law needs, or
  // does not report it. Says why.
  not_applicable,
};

struct LawResult {
  const Law* law = nullptr;
  Status status = Status::not_run;
  std::string why;  // of not_run and not_applicable; of held, if time or the user cut it short
  std::uint64_t cases = 0;    // tried, up to and with the one that broke it
  std::uint64_t vacuous = 0;  // of these, did not speak to the law
  std::uint64_t shrinks = 0;  // candidates tried
  bool shrinks_cut = false;   // time or patience ran out before all simpler cases were tried
  Coverage coverage;          // over all cases

  // When broken by a case:
  std::optional<Finding> finding;
  std::optional<Case> smallest;
  std::optional<History> history;  // of the smallest case, or the finding's own
  std::string legal_if;   // the declaration under which this would be legal; empty: none found
  std::string reproduce;  // "sinks.visible/sinks=1,...": what --reproduce takes
  const Law* follows = nullptr;  // an earlier law whose smallest case breaks this one too
  std::string
      recorded_at{};  // of a recorded run: "run.jsonl, line 19", where the finding is stated

  // When the law is statistical:
  std::optional<StatisticalVerdict> measured;

  // What its own cases or streams took, by the battery's clock; nothing without a clock, and of a
  // law that judges runs which others judge too.
  std::optional<double> seconds{};
};

struct BatteryResult {
  std::string subject;
  Contract contract;  // of the requested setup
  std::vector<std::string> deviations;
  Setup requested;
  Effort effort{};
  bool strict = false;  // laws that were not run count as errors
  std::uint64_t cases = 0;
  bool interrupted = false;  // the user asked to stop before all laws had been tried
  bool recorded = false;     // cases are recorded runs, which have neither a level nor a seed
  std::vector<LawResult> laws{};

  [[nodiscard]] bool holds() const;  // no law broken, and at least one was run

  [[nodiscard]] bool complete() const { return !interrupted && count(Status::not_run) == 0; }

  [[nodiscard]] std::size_t count(Status status) const;
};

// Tries every law that the filter names. An error if the requested setup is refused or the filter
// names no law. Throws Interrupted (properties/stop.h) if the user asks to stop, with
// report_interrupted only while the contract is asked for.
Result<BatteryResult> run_battery(Family& family, const BatteryOptions& options);

// Tries one law on one case again: `text` is a LawResult::reproduce. An error if it does not parse,
// names no law, or tried nothing.
Result<BatteryResult> reproduce(Family& family, std::string_view text);

}  // namespace kv::properties
