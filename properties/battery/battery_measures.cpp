#include "kvcheck/properties/battery/battery_measures.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/battery/verdict_bytes.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/child_time.h"

namespace kv::properties {
namespace {

// What a child that measures leaves behind.
struct VerdictPage {
  std::size_t size;
  char bytes[1U << 20U];
};

void measure(LawResult& result,
             Family& family,
             const Effort& effort,
             const BatteryOptions& options) {
  const double begun = options.clock ? options.clock() : 0;
  result.measured = measure_law(*result.law, family, effort, options.case_seconds);
  if (options.clock) result.seconds = std::max(0.0, options.clock() - begun);
  result.cases = 1;
  result.why = result.measured->why_not;
  if (!result.measured->ran) {
    if (result.measured->cannot) result.status = Status::not_applicable;
    return;
  }
  result.status = result.measured->broken ? Status::broken : Status::held;
  result.reproduce = std::string(result.law->id) + "/level=" + std::string(name_of(effort.level)) +
                     ",seed=" + std::to_string(effort.seed);
}

// Where time is short: what shows most with few streams comes first.
constexpr std::array<std::string_view, 9> by_power = {
    "chance.exact",     "chance.acceptance", "chance.inclusion",
    "chance.age-law",   "chance.age-rank",   "chance.chunks",
    "chance.contrasts", "chance.pairs",      "chance.independence"};

}  // namespace

StatisticalVerdict measure_law(const Law& law,
                               Family& family,
                               const Effort& effort,
                               double case_seconds) {
  const Measure measure = std::get<Measure>(law.check);
  if (!family.in_process()) return measure(family, effort);
  const SharedMemory memory(sizeof(VerdictPage));
  auto* const page = static_cast<VerdictPage*>(memory.data());
  const auto work = [&] {
    // Streams are not cases, and a right subject may take its time with all of them together.
    if (effort.seconds_left && case_seconds > 0) {
      stay_alive(3 * std::max(0.0, effort.seconds_left()) + case_seconds);
    }
    const std::string bytes = bytes_of(measure(family, effort));
    KV_CHECK(bytes.size() <= sizeof(page->bytes));
    std::memcpy(page->bytes, bytes.data(), bytes.size());
    page->size = bytes.size();
  };
  const std::string death = run_in_child(work, {});
  if (death.empty()) return verdict_of({page->bytes, page->size});
  StatisticalVerdict verdict;
  verdict.ran = verdict.broken = true;
  verdict.sentence = "the subject died in one of the streams that were measured: " + death;
  return verdict;
}

std::vector<LawResult*> measured_laws(BatteryResult& report) {
  std::vector<LawResult*> all;
  for (LawResult& result : report.laws) {
    const bool measures = std::holds_alternative<Measure>(result.law->check);
    if (measures && result.status != Status::not_applicable) all.push_back(&result);
  }
  std::ranges::stable_sort(all, {}, [](const LawResult* result) {
    return std::ranges::find(by_power, result->law->id) - by_power.begin();
  });
  return all;
}

void measure_all(BatteryResult& report, Family& family, const BatteryOptions& options, double end) {
  // In a process of its own it may die once more.
  const bool died = family.in_process() && std::ranges::any_of(report.laws, [](const auto& result) {
                      return result.status == Status::broken && result.law->id == "survives";
                    });
  // In this process streams are cheap: without a limit of the user's, what is seen does not depend
  // on how busy the machine is.
  const bool limited = options.clock && (options.seconds > 0 || !family.in_process());
  const std::vector<LawResult*> all = measured_laws(report);
  for (std::size_t i = 0; i < all.size(); ++i) {
    LawResult& result = *all[i];
    if (report.interrupted) {
      result.why = "interrupted before it was measured";
      continue;
    }
    if (options.progress) options.progress(0.5, result.law->id);
    if (died) {
      result.why = "the subject does not survive";
      continue;
    }
    Effort effort = options.effort;
    if (limited) {
      const double now = options.clock();
      const double left = static_cast<double>(all.size() - i);
      constexpr double least_share = 0.4;  // the first see most
      const double until = now + (end - now) * std::max(least_share, 1 / left);
      effort.seconds_left = [&options, until] { return until - options.clock(); };
      if (until <= now) {
        result.why = "time ran out";
        continue;
      }
    }
    if (was_stopped(options, [&] { measure(result, family, effort, options); })) {
      report.interrupted = true;
      result.why = "interrupted while it was measured";
    }
  }
}

}  // namespace kv::properties
