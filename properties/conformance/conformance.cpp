#include "kvcheck/properties/conformance/conformance.h"

#include <algorithm>
#include <map>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

// Filled while static variables are initialised, in whatever order.
std::map<std::string, MakeFamily>& registry() {
  static std::map<std::string, MakeFamily> all;
  return all;
}

}  // namespace

bool register_subject(std::string name, MakeFamily make) {
  registry()[std::move(name)] = std::move(make);
  return true;
}

std::vector<RegisteredSubject> registered_subjects() {
  std::vector<RegisteredSubject> all;
  for (const auto& [name, make] : registry()) all.push_back({name, make});
  return all;
}

std::vector<std::string> law_ids() {
  std::vector<std::string> ids;
  for (const Law& law : laws()) ids.emplace_back(law.id);
  return ids;
}

std::string broken_law(const History& history) {
  for (const Law& law : laws()) {
    const auto* const judge = std::get_if<JudgeHistory>(&law.check);
    if (judge == nullptr || law.why_not(history.contract)) continue;
    const Judgement judgement = (*judge)(history, history.contract);
    const auto* const finding = std::get_if<Finding>(&judgement);
    if (finding == nullptr) continue;
    return std::string(law.id) + ": expected " + finding->expected + "; seen " + finding->seen;
  }
  return {};
}

LawVerdict check_law(std::string_view subject,
                     std::string_view law,
                     const Effort& effort,
                     const std::string& command) {
  const auto entry = registry().find(std::string(subject));
  KV_CHECK(entry != registry().end());
  KV_CHECK(find_law(law) != nullptr);
  const std::unique_ptr<Family> family = entry->second();
  BatteryOptions options;
  options.effort = effort;
  options.filter = {std::string(law)};
  const auto results = run_battery(*family, options);
  if (!results) return {LawVerdict::Outcome::not_run, results.error().message};
  TextStream text;
  write_text(*results, command, text);
  if (results->count(Status::broken) > 0) return {LawVerdict::Outcome::broken, text.str()};
  if (results->holds()) return {LawVerdict::Outcome::holds, text.str()};
  return {LawVerdict::Outcome::not_run, text.str()};
}

}  // namespace kv::properties
