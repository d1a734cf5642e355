// A report as one JSON object.
#include <algorithm>
#include <ostream>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

std::string json_of(const Coverage& coverage) {
  return JsonObject()
      .add("eviction", coverage.eviction)
      .add("wide_chunk", coverage.wide_chunk)
      .add("wrap", coverage.wrap)
      .add("refusal", coverage.refusal)
      .text();
}

std::string json_of(const Statistic& statistic) {
  return JsonObject()
      .add("name", statistic.name)
      .add("what", statistic.what)
      .add("where", statistic.where)
      .add("value", statistic.value)
      .add("freedom", statistic.freedom)
      .add("p", statistic.p)
      .add("level", statistic.level)
      .add("effect", statistic.effect)
      .add("effect_low", statistic.effect_low)
      .add("effect_high", statistic.effect_high)
      .add("detectable", statistic.detectable)
      .add("rejected", statistic.rejected)
      .text();
}

std::string json_of(const StatisticalVerdict& measured) {
  return JsonObject()
      .add("ran", measured.ran)
      .add("broken", measured.broken)
      .add("sentence", measured.sentence)
      .add_raw("statistics", statistics_json(measured.statistics))
      .add("smallest", measured.smallest)
      .text();
}

// As the text has it, but an identifier: "not_run", "not_applicable".
std::string status_word(Status status) {
  std::string word(name_of(status));
  std::ranges::replace_if(
      word, [](char c) { return c == ' ' || c == '-'; }, '_');
  return word;
}

std::string json_of(const LawResult& result) {
  JsonObject object;
  object.add("law", result.law->id)
      .add("sentence", result.law->sentence)
      .add("status", status_word(result.status))
      .add("why", result.why)
      .add("cases", result.cases)
      .add("vacuous", result.vacuous)
      .add("shrinks", result.shrinks)
      .add("shrinks_cut", result.shrinks_cut)
      .add_raw("coverage", json_of(result.coverage));
  if (result.finding) {
    object.add("expected", result.finding->expected).add("seen", result.finding->seen);
    object.add("where", where_of(result));
  }
  if (!result.recorded_at.empty()) object.add("recorded_at", result.recorded_at);
  if (result.smallest && result.recorded_at.empty()) {
    object.add("smallest", result.smallest->text());
  }
  if (const std::string run = run_of(result); !run.empty()) object.add("shown_is", run);
  if (result.finding && result.history) {
    object.add("picture", picture(*result.history, *result.finding));
  }
  if (!result.legal_if.empty()) object.add("legal_if", result.legal_if);
  if (result.follows != nullptr) object.add("follows", result.follows->id);
  if (!result.reproduce.empty()) object.add("reproduce", result.reproduce);
  if (result.measured) object.add_raw("measured", json_of(*result.measured));
  return object.text();
}

std::string json_of(const Contract& contract) {
  return JsonObject()
      .add("name", contract.name)
      .add("sinks", std::uint64_t{contract.sinks})
      .add("recent", std::uint64_t{contract.recent})
      .add("budget", std::uint64_t{contract.budget})
      .add("reference", contract.reference)
      .add_raw("claims", json_list(contract.claims, json_string))
      .text();
}

}  // namespace

std::string statistics_json(std::span<const Statistic> statistics) {
  return json_list(statistics, [](const Statistic& statistic) { return json_of(statistic); });
}

void write_json(const BatteryResult& report, std::ostream& out) {
  JsonObject object;
  object.add("subject", report.subject)
      .add("holds", report.holds())
      .add("complete", report.complete());
  if (!report.recorded) {
    object.add("level", name_of(report.effort.level)).add("seed", report.effort.seed);
  }
  out << object.add("cases", report.cases)
             .add_raw("contract", json_of(report.contract))
             .add_raw("deviations", json_list(report.deviations, json_string))
             .add("scores_note", scores_note(report))
             .add_raw("laws", json_list(report.laws, [](const LawResult& r) { return json_of(r); }))
             .text()
      << "\n";
}

}  // namespace kv::properties
