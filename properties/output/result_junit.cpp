// A report as JUnit XML.
#include <iomanip>
#include <ostream>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

// For attributes and text alike. XML has no words for most control characters, and none for bytes
// that are not UTF-8: both become '?'.
std::string xml_of(char c) {
  if (c == '&') return "&amp;";
  if (c == '<') return "&lt;";
  if (c == '>') return "&gt;";
  if (c == '"') return "&quot;";
  if (c == '\n') return "&#10;";
  const auto byte = static_cast<unsigned char>(c);
  return std::string(1, byte < 0x20 || byte >= 0x7f ? '?' : c);
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) out += xml_of(c);
  return out;
}

std::string failure_text(const LawResult& result, const std::string& command) {
  std::string text(result.law->sentence);
  if (result.finding) {
    text += "\nexpected: " + result.finding->expected + "\nseen: " + result.finding->seen;
  }
  if (result.measured) text += "\nseen: " + result.measured->sentence;
  if (!result.recorded_at.empty()) {
    text += "\nrecorded at: " + result.recorded_at;
  } else if (result.smallest) {
    text += "\nsmallest case: " + result.smallest->text();
  }
  if (const std::string run = run_of(result); !run.empty()) text += "\nshown is: " + run;
  if (!result.legal_if.empty()) text += "\nlegal if it declared " + result.legal_if;
  if (result.finding && result.history) text += "\n" + picture(*result.history, *result.finding);
  if (!result.reproduce.empty()) text += "\nagain: " + repeat_line(result, command);
  return text + "\n";
}

// As Jenkins takes it.
std::string seconds_text(double seconds) {
  TextStream text;
  text << std::fixed << std::setprecision(3) << seconds;
  return text.str();
}

void write_case(const LawResult& result,
                const std::string& subject,
                const std::string& command,
                bool strict,
                std::ostream& out) {
  out << "    <testcase classname=\"kvcheck." << xml(subject) << "\" name=\"" << xml(result.law->id)
      << "\"";
  if (result.seconds) out << " time=\"" << seconds_text(*result.seconds) << "\"";
  switch (result.status) {
    case Status::held:
      out << "/>\n";
      return;
    case Status::broken: {
      const std::string message = result.finding    ? result.finding->seen
                                  : result.measured ? result.measured->sentence
                                                    : std::string(result.law->sentence);
      out << ">\n      <failure type=\"law-broken\" message=\"" << xml(message) << "\">"
          << xml(failure_text(result, command)) << "</failure>\n    </testcase>\n";
      return;
    }
    case Status::not_run:
      if (strict) {
        out << ">\n      <error type=\"not-run\" message=\"" << xml(result.why)
            << "\"/>\n    </testcase>\n";
        return;
      }
      [[fallthrough]];
    case Status::not_applicable:
      out << ">\n      <skipped message=\"" << xml(name_of(result.status)) << ": "
          << xml(result.why) << "\"/>\n    </testcase>\n";
      return;
  }
}

}  // namespace

void write_junit(const BatteryResult& report,
                 const std::string& command,
                 double seconds,
                 std::ostream& out) {
  const std::size_t not_run = report.strict ? report.count(Status::not_run) : 0;
  const std::size_t skipped =
      report.count(Status::not_run) - not_run + report.count(Status::not_applicable);
  const std::size_t stopped = report.interrupted ? 1 : 0;
  const std::size_t errors = not_run + stopped;
  TextStream counts;
  counts << "tests=\"" << report.laws.size() + stopped << "\" failures=\""
         << report.count(Status::broken) << "\" errors=\"" << errors << "\" time=\""
         << seconds_text(seconds) << "\"";
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " << counts.str()
      << ">\n  <testsuite name=\"kvcheck " << xml(report.subject) << "\" " << counts.str()
      << " skipped=\"" << skipped << "\">\n";
  for (const LawResult& result : report.laws) {
    write_case(result, report.subject, command, report.strict, out);
  }
  if (report.interrupted) {
    out << "    <testcase classname=\"kvcheck." << xml(report.subject)
        << "\" name=\"ends\">\n      <error type=\"interrupted\" message=\"interrupted; the result "
           "is of what had been tried by then\"/>\n    </testcase>\n";
  }
  out << "  </testsuite>\n</testsuites>\n";
}

void write_junit_error(std::string_view subject, std::string_view message, std::ostream& out) {
  constexpr std::string_view counts = "tests=\"1\" failures=\"0\" errors=\"1\" time=\"0.000\"";
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " << counts
      << ">\n  <testsuite name=\"kvcheck " << xml(subject) << "\" " << counts
      << " skipped=\"0\">\n    <testcase classname=\"kvcheck." << xml(subject)
      << "\" name=\"begins\">\n      <error type=\"did-not-begin\" message=\"" << xml(message)
      << "\"/>\n    </testcase>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace kv::properties
