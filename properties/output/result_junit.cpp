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

void begin_suite(std::string_view subject,
                 const std::string& counts,
                 std::size_t skipped,
                 std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " << counts
      << ">\n  <testsuite name=\"kvcheck " << xml(subject) << "\" " << counts << " skipped=\""
      << skipped << "\">\n";
}

// A case that is no law: what kept the battery from its beginning or its end.
void write_error_case(std::string_view subject,
                      std::string_view name,
                      std::string_view type,
                      std::string_view message,
                      std::ostream& out) {
  out << "    <testcase classname=\"kvcheck." << xml(subject) << "\" name=\"" << name
      << "\">\n      <error type=\"" << type << "\" message=\"" << xml(message)
      << "\"/>\n    </testcase>\n";
}

void end_suite(std::ostream& out) {
  out << "  </testsuite>\n</testsuites>\n";
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
  TextStream counts;
  counts << "tests=\"" << report.laws.size() + stopped << "\" failures=\""
         << report.count(Status::broken) << "\" errors=\"" << not_run + stopped << "\" time=\""
         << seconds_text(seconds) << "\"";
  begin_suite(report.subject, counts.str(), skipped, out);
  for (const LawResult& result : report.laws) {
    write_case(result, report.subject, command, report.strict, out);
  }
  if (report.interrupted) {
    write_error_case(report.subject, "ends", "interrupted",
                     "interrupted; the result is of what had been tried by then", out);
  }
  end_suite(out);
}

void write_junit_error(std::string_view subject, std::string_view message, std::ostream& out) {
  begin_suite(subject, "tests=\"1\" failures=\"0\" errors=\"1\" time=\"0.000\"", 0, out);
  write_error_case(subject, "begins", "did-not-begin", message, out);
  end_suite(out);
}

}  // namespace kv::properties
