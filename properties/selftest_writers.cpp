#include <algorithm>
#include <ostream>

#include "base/json_text.h"
#include "properties/selftest.h"

namespace kv {
namespace {

std::string verdict_of(const Kill& kill) {
  if (!kill.mutant->equivalent.empty()) return kill.killers.empty() ? "equivalent" : "KILLED";
  return kill.killers.empty() ? "LIVES" : "killed";
}

std::string killers_of(const Kill& kill, std::string_view separator) {
  std::string text;
  for (const Killer& killer : kill.killers) {
    const bool statistical = std::holds_alternative<Measure>(killer.law->check);
    text += (text.empty() ? "" : std::string(separator)) + std::string(killer.law->id) + " (" +
            (statistical ? "statistics" : std::to_string(killer.cases)) + ")";
  }
  return text;
}

std::string json_of(const Kill& kill) {
  std::string killers;
  for (const Killer& killer : kill.killers) {
    killers += (killers.empty() ? "" : ",") +
               JsonObject().add("law", killer.law->id).add("cases", killer.cases).text();
  }
  return JsonObject()
      .add("mutant", kill.mutant->name)
      .add("wrong", kill.mutant->wrong)
      .add("source", kill.mutant->source)
      .add("equivalent", kill.mutant->equivalent)
      .add("verdict", verdict_of(kill))
      .add_raw("killers", "[" + killers + "]")
      .add("smallest", kill.smallest)
      .text();
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string sum_of(const SelftestReport& report) {
  const auto surprises = std::ranges::count_if(report.kills, is_surprise);
  return std::to_string(report.kills.size()) + " mutants, " + std::to_string(surprises) +
         " not as they should be; " + std::to_string(report.idle_laws.size()) +
         " laws that killed nothing; " + std::to_string(report.right_batteries) +
         " batteries of right subjects, " + std::to_string(report.accusations.size()) +
         " accusations\n";
}

}  // namespace

void write_text(const SelftestReport& report, std::ostream& out) {
  std::size_t width = 0;
  for (const Kill& kill : report.kills) width = std::max(width, kill.mutant->name.size());
  for (const Kill& kill : report.kills) {
    std::string line(kill.mutant->name);
    line.resize(width + 2, ' ');
    line += verdict_of(kill);
    line.resize(width + 14, ' ');
    out << line << "by " << kill.killers.size() << ", first after " << kill.cases << "\n";
    if (!kill.smallest.empty()) out << "    " << kill.smallest << "\n";
    if (!kill.killers.empty()) out << "    " << killers_of(kill, ", ") << "\n";
  }
  out << "\n";
  for (const Law* law : report.idle_laws) out << "IDLE  law " << law->id << " killed nothing\n";
  for (const Accusation& accusation : report.accusations) {
    out << "ACCUSED  " << accusation.subject->name << " of " << accusation.law->id << ", seed "
        << accusation.seed << ": " << accusation.reproduce << "\n";
  }
  out << sum_of(report) << (report.passed() ? "passed\n" : "FAILED\n");
}

void write_json(const SelftestReport& report, std::ostream& out) {
  std::string kills;
  for (const Kill& kill : report.kills) kills += (kills.empty() ? "" : ",") + json_of(kill);
  std::string idle;
  for (const Law* law : report.idle_laws) idle += (idle.empty() ? "" : ",") + json_string(law->id);
  std::string accusations;
  for (const Accusation& accusation : report.accusations) {
    accusations += (accusations.empty() ? "" : ",") + JsonObject()
                                                          .add("subject", accusation.subject->name)
                                                          .add("law", accusation.law->id)
                                                          .add("seed", accusation.seed)
                                                          .add("reproduce", accusation.reproduce)
                                                          .text();
  }
  out << JsonObject()
             .add("passed", report.passed())
             .add_raw("mutants", "[" + kills + "]")
             .add_raw("idle_laws", "[" + idle + "]")
             .add_raw("accusations", "[" + accusations + "]")
             .add("right_batteries", report.right_batteries)
             .text()
      << "\n";
}

void write_csv(const SelftestReport& report, std::ostream& out) {
  out << "mutant,law,cases\n";
  for (const Kill& kill : report.kills) {
    for (const Killer& killer : kill.killers) {
      out << quoted(kill.mutant->name) << "," << quoted(killer.law->id) << "," << killer.cases
          << "\n";
    }
  }
}

void write_markdown(const SelftestReport& report, std::ostream& out) {
  out << "| Mutant | What is wrong | Seen in | Killed by (cases) |\n|---|---|---|---|\n";
  for (const Kill& kill : report.kills) {
    const std::string killers = kill.mutant->equivalent.empty()
                                    ? killers_of(kill, ", ")
                                    : "equivalent: " + std::string(kill.mutant->equivalent);
    out << "| " << kill.mutant->name << " | " << kill.mutant->wrong << " | " << kill.mutant->source
        << " | " << killers << " |\n";
  }
}

}  // namespace kv
