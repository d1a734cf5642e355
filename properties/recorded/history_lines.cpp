#include "kvcheck/properties/recorded/history_lines.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::properties {
namespace {

constexpr std::array<std::string_view, 7> verbs = {"feed",    "fork",  "truncate", "reset",
                                                   "reorder", "shift", "snapshot"};

std::string head_line(const History& history, bool draws) {
  JsonObject head;
  head.add("kvcheck_history", std::uint64_t{history_version})
      .add("name", history.contract.name)
      .add_raw("setup", setup_json(history.what.setup))
      .add_raw("contract", contract_json(history.contract));
  if (draws) head.add("draws", true);
  const Stream& stream = history.what.stream;
  if (stream == Stream{.kind = stream.kind, .seed = stream.seed, .planted = stream.planted}) {
    head.add_raw("stream", JsonObject()
                               .add("kind", name_of(stream.kind))
                               .add("seed", std::uint64_t{stream.seed})
                               .add("planted", std::uint64_t{stream.planted})
                               .text());
  }
  return head.text() + "\n";
}

std::string bounds_json(const UnitFacts& unit) {
  std::string text = "[";
  for (std::size_t i = 0; i < unit.page_bounds.size(); ++i) {
    const bool begins = i % unit.page_width == 0;
    text += i == 0 ? "[" : begins ? "],[" : ",";
    text += shortest(unit.page_bounds[i]);
  }
  return text + "]]";
}

// The fields of a unit, without the braces around them.
std::string fields_of(const UnitFacts& unit, std::size_t queries) {
  std::string text = unit_json(unit, queries);
  text = text.substr(1, text.size() - 2);
  if (unit.listed) text += ",\"listed\":true";
  if (unit.page_width > 0 && !unit.page_bounds.empty()) {
    text += ",\"page_bounds\":" + bounds_json(unit);
  }
  return text;
}

std::string units_json(const History& history, const Event& event) {
  const bool fed = event.call.kind == Call::Kind::feed && !event.refused;
  std::vector<std::string> fields;
  for (const UnitFacts& unit : event.facts.units) {
    fields.push_back(fields_of(unit, fed ? event.fed.size() : 0));
  }
  const auto differs = [&](const std::string& text) { return text != fields.front(); };
  if (!fields.empty() && std::ranges::none_of(fields, differs)) {
    return "[{" + fields.front() + "}]";
  }
  std::string text = "[";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Place place = history.place_of(i);
    text += i == 0 ? "{" : ",{";
    text += "\"sequence\":" + std::to_string(place.sequence) +
            ",\"layer\":" + std::to_string(place.layer) +
            ",\"head\":" + std::to_string(place.head) + "," + fields[i] + "}";
  }
  return text + "]";
}

std::string call_line(const History& history, const Event& event) {
  const Call& call = event.call;
  JsonObject line;
  line.add("do", verbs[static_cast<std::size_t>(call.kind)]);
  if (call.branch > 0) line.add("branch", std::uint64_t{call.branch});
  if (call.kind == Call::Kind::feed) line.add("tokens", call.amount);
  if (call.variant != 0) line.add("variant", std::int64_t{call.variant});
  if (call.kind == Call::Kind::truncate) line.add("length", call.amount);
  if (call.kind == Call::Kind::shift) line.add("delta", -call.amount);
  if (call.kind == Call::Kind::reorder) {
    line.add_raw("from", json_list(call.from, [](std::uint32_t i) { return std::to_string(i); }));
  }
  if (event.refused) line.add("refused", event.why);
  return line.add_raw("units", units_json(history, event)).text() + "\n";
}

}  // namespace

std::string history_lines(const History& history, bool draws) {
  std::string lines = head_line(history, draws);
  for (const Event& event : history.events) lines += call_line(history, event);
  if (!history.failure.empty()) {
    lines += JsonObject().add("failure", history.failure).add("died", history.died).text() + "\n";
  }
  return lines;
}

}  // namespace kv::properties
