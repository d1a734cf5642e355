#include "kvcheck/properties/battery/result_phrases.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/statistics/tail.h"

namespace kv::properties {
namespace {

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace

std::string_view name_of(Status status) {
  constexpr std::array<std::string_view, 4> words = {"held", "broken", "not-run", "not applicable"};
  return words[static_cast<std::size_t>(status)];
}

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, 3> words = {"quick", "full", "nightly"};
  return words[static_cast<std::size_t>(level)];
}

std::string words_of(const Call& call) {
  constexpr std::array<std::string_view, 7> words = {
      "feed ",        "fork",      "truncate to ",        "reset",
      "reorder from", "shift by ", "snapshot and restore"};
  std::string text = call.branch == 0 ? "" : "branch " + std::to_string(call.branch) + ": ";
  text += words[static_cast<std::size_t>(call.kind)];
  if (call.kind == Call::Kind::feed || call.kind == Call::Kind::truncate) {
    text += std::to_string(call.amount);
  }
  if (call.kind == Call::Kind::shift) text += std::to_string(-call.amount);
  for (const std::uint32_t from : call.from) text += " " + std::to_string(from);
  return text + (call.variant == 0 ? "" : " of variant " + std::to_string(call.variant));
}

std::string words_of(const std::vector<Call>& calls) {
  std::string text;
  for (std::size_t i = 0; i < calls.size();) {
    std::size_t same = 1;
    while (i + same < calls.size() && calls[i + same] == calls[i]) ++same;
    text += (text.empty() ? "" : "; ") + words_of(calls[i]);
    if (same > 1) text += " (" + std::to_string(same) + " times)";
    i += same;
  }
  return text;
}

std::string words_of(const Setup& setup) {
  std::string text = "sinks " + std::to_string(setup.sinks) + ", recent " +
                     std::to_string(setup.recent) + ", budget " + std::to_string(setup.budget);
  // One of a kind need not be named.
  const auto add = [&](std::uint32_t count, std::string_view what) {
    if (count != 1) text += ", " + std::to_string(count) + " " + std::string(what);
  };
  add(setup.layers, "layers");
  add(setup.kv_heads, "kv-heads");
  add(setup.group, "query heads per kv-head");
  add(setup.sequences, "sequences");
  if (setup.seed != 0) text += ", seed " + std::to_string(setup.seed);
  return text;
}

std::string where_of(const LawResult& result) {
  if (!result.finding || !result.history) return {};
  const Finding& finding = *result.finding;
  const History& history = finding.history ? *finding.history : *result.history;
  if (finding.event >= history.events.size()) {
    const std::size_t calls = history.what.calls.size();
    if (history.died && calls == 0) return "when it is made";
    if (history.died && finding.event >= calls) return {};
    if (finding.event >= calls) return "after all calls";
    return "in call " + std::to_string(finding.event + 1) + ", " +
           words_of(history.what.calls[finding.event]);
  }
  const Event& event = history.events[finding.event];
  std::string text = "after call " + std::to_string(finding.event + 1) + ", " +
                     words_of(event.call) + (event.refused ? " (refused)" : "");
  if (history.units() > 1 && finding.unit < history.units()) {
    const Place place = history.place_of(finding.unit);
    const Setup& setup = history.what.setup;
    if (setup.sequences > 1) text += "; sequence " + std::to_string(place.sequence);
    if (setup.layers > 1) text += "; layer " + std::to_string(place.layer);
    if (setup.query_heads() > 1) text += "; head " + std::to_string(place.head);
  }
  return text;
}

std::string run_of(const LawResult& result) {
  if (!result.finding || !result.history || !result.smallest) return {};
  const Case& run = (result.finding->history ? *result.finding->history : *result.history).what;
  if (run == *result.smallest) return {};
  return words_of(run.setup) + "; " + words_of(run.stream) + "; " + words_of(run.calls);
}

std::string words_of(const Stream& stream) {
  std::string text{name_of(stream.kind)};
  if (stream.planted != 0) text += ", planted " + std::to_string(stream.planted);
  return text;
}

std::string words_of(const Statistic& statistic) {
  std::string text = statistic.name + " " + statistic.what;
  if (!statistic.where.empty()) text += " (" + statistic.where + ")";
  text += ": " + short_number(statistic.value);
  if (statistic.freedom > 0) text += " with " + short_number(statistic.freedom) + " degrees";
  // Where every outcome is counted, nothing is left to chance.
  if (statistic.level > 0) {
    text += ", " + p_text(statistic.p) + ", rejects below " + short_number(statistic.level);
  }
  if (!statistic.effect.empty()) text += "; " + statistic.effect;
  if (statistic.detectable > 0) {
    text += "; would have seen " + short_number(statistic.detectable) + " with power 0.99";
  }
  return text;
}

std::string repeat_line(const LawResult& result, const std::string& command) {
  return command + (command.empty() ? "" : " ") + "--reproduce '" + result.reproduce + "'";
}

std::string scores_note(const BatteryResult& result) {
  const Contract& contract = result.contract;
  const bool asked = std::ranges::any_of(
      result.laws, [](const LawResult& tried) { return tried.law->id == "reference.model"; });
  if (!asked || !contract.wants_attention || !contract.reference.empty()) return {};
  return "Scores are hardly judged, as no reference is declared: the laws see whether attention "
         "decides, but not whether each choice is the right one. If the rule is that of a policy "
         "of kvcheck (kvcheck policies), declare it: \"reference\":\"h2o:sinks=" +
         std::to_string(contract.sinks) + ",recent=" + std::to_string(contract.recent) +
         ",budget=" + std::to_string(contract.budget) + "\", for example.";
}

}  // namespace kv::properties
