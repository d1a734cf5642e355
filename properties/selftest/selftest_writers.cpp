#include <algorithm>
#include <ostream>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/properties/selftest/selftest.h"

namespace kv::properties {
namespace {

std::string verdict_of(const Kill& kill) {
  if (!kill.mutant->equivalent.empty()) return kill.killers.empty() ? "equivalent" : "KILLED";
  return kill.killers.empty() ? "LIVES" : "killed";
}

bool is_statistical(const Law& law) {
  return std::holds_alternative<Measure>(law.check);
}

std::string killers_of(const Kill& kill) {
  std::string text;
  for (const Killer& killer : kill.killers) {
    text += (text.empty() ? "" : ", ") + std::string(killer.law->id) + " (" +
            (is_statistical(*killer.law) ? "statistics" : std::to_string(killer.cases)) + ")";
  }
  return text;
}

std::string json_of(const Law& law) {
  return JsonObject().add("law", law.id).add("statistical", is_statistical(law)).text();
}

std::string json_of(const Killer& killer) {
  return JsonObject().add("law", killer.law->id).add("cases", killer.cases).text();
}

std::string json_of(const Kill& kill) {
  return JsonObject()
      .add("mutant", kill.mutant->name)
      .add("wrong", kill.mutant->wrong)
      .add("source", kill.mutant->source)
      .add("equivalent", kill.mutant->equivalent)
      .add("verdict", verdict_of(kill))
      .add_raw("killers",
               json_list(kill.killers, [](const Killer& killer) { return json_of(killer); }))
      .add("smallest", kill.smallest)
      .text();
}

std::string json_of(const Accusation& accusation) {
  return JsonObject()
      .add("subject", accusation.subject->name)
      .add("law", accusation.law->id)
      .add("seed", accusation.seed)
      .add("reproduce", accusation.reproduce)
      .text();
}

std::string sum_of(const SelftestResult& report) {
  const auto surprises = std::ranges::count_if(report.kills, is_surprise);
  return std::to_string(report.kills.size()) + " mutants, " + std::to_string(surprises) +
         " not as they should be; " + std::to_string(report.idle_laws.size()) +
         " laws that killed nothing; " + std::to_string(report.right_batteries) + " batteries of " +
         std::to_string(report.right_subjects) + " right subjects, " +
         std::to_string(report.accusations.size()) + " accusations\n";
}

}  // namespace

void write_text(const SelftestResult& report, std::ostream& out) {
  std::size_t width = 0;
  for (const Kill& kill : report.kills) width = std::max(width, kill.mutant->name.size());
  for (const Kill& kill : report.kills) {
    std::string line(kill.mutant->name);
    line.resize(width + 2, ' ');
    line += verdict_of(kill);
    line.resize(width + 14, ' ');
    out << line << "by " << kill.killers.size() << ", first after " << kill.cases << "\n";
    if (!kill.smallest.empty()) out << "    " << kill.smallest << "\n";
    if (!kill.killers.empty()) out << "    " << killers_of(kill) << "\n";
  }
  out << "\n";
  for (const Law* law : report.idle_laws) out << "IDLE  law " << law->id << " killed nothing\n";
  for (const Accusation& accusation : report.accusations) {
    out << "ACCUSED  " << accusation.subject->name << " of " << accusation.law->id << ", seed "
        << accusation.seed << ": " << accusation.reproduce << "\n";
  }
  out << sum_of(report) << (report.passed() ? "passed\n" : "FAILED\n");
}

void write_json(const SelftestResult& report, std::ostream& out) {
  const auto json = [](const auto& item) { return json_of(item); };
  const auto id = [](const Law* law) { return json_string(law->id); };
  out << JsonObject()
             .add("passed", report.passed())
             .add("seed", report.seed)
             .add("whole", report.whole)
             .add_raw("laws", json_list(laws(), json))
             .add_raw("mutants", json_list(report.kills, json))
             .add_raw("idle_laws", json_list(report.idle_laws, id))
             .add_raw("accusations", json_list(report.accusations, json))
             .add("right_subjects", report.right_subjects)
             .add("right_batteries", report.right_batteries)
             .text()
      << "\n";
}

}  // namespace kv::properties
