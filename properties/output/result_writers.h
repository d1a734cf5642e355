// A report as text for people, as JSON, and as JUnit XML for continuous integration.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

// The laws that the table lists. The others are only counted.
enum class Listing {
  open_laws,  // broken and not run
  every_law,
};

// Broken laws first, with the sentence, the picture, what was expected and seen, the declaration
// that would make it legal, and the line that repeats it; then a table of laws.
// `command` is what checks the subject again, may be empty; `columns` is the width that the table
// is wrapped to, 0 to leave each law on a line of its own. What a terminal would obey is spelt out.
void write_text(const BatteryResult& report,
                const std::string& command,
                std::ostream& out,
                std::size_t columns = 0,
                Listing listing = Listing::every_law);

// One JSON object: everything that Report holds.
void write_json(const BatteryResult& report, std::ostream& out);

// A list of JSON objects, one for each statistic.
std::string statistics_json(std::span<const Statistic> statistics);

// One <testsuite> that took `seconds`, one <testcase> per law; not run and not applicable are
// <skipped>, and an interrupted battery has one more, "ends", with an <error>. Valid by the schema
// of Jenkins (junit-10.xsd of its xUnit plug-in), which allows the count of skipped cases at the
// suite only.
void write_junit(const BatteryResult& report,
                 const std::string& command,
                 double seconds,
                 std::ostream& out);

// The same for a battery that could not begin: one <testcase>, "begins", with an <error>, so that
// what reads the file shows why instead of missing it. `subject` is as the user named it.
void write_junit_error(std::string_view subject, std::string_view message, std::ostream& out);

// One event of a history, positions across, queries down:
//
//              0 1 2 3 4 5 6
//   query 5    # # . . o # x      # visible  . not visible  o missing  x forbidden
//   query 6    ...
//   stored     # # . . . # #
std::string picture(const History& history, const Finding& finding);

}  // namespace kv::properties
