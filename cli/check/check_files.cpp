#include "kvcheck/cli/check/check_files.h"

#include <string>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::cli {
namespace {

// The words by which the command line names the subject.
std::string words_of_subject(const Arguments& arguments) {
  for (const char* const option : {"exec", "plugin"}) {
    if (arguments.given(option)) return arguments.value(option);
  }
  return arguments.operands().empty() ? "" : arguments.operands()[0];
}

}  // namespace

Result<CheckFiles> open_check_files(const Arguments& arguments) {
  if (arguments.given("json") && arguments.value("json") == arguments.value("junit")) {
    return usage_error("--json and --junit are both '" + arguments.value("json") + "'");
  }
  auto json = LateFile::open(arguments.value("json"));
  if (!json) return json.error();
  auto junit = LateFile::open(arguments.value("junit"));
  if (!junit) return junit.error();
  auto record = LateFile::open(arguments.value("record"));
  if (!record) return record.error();
  return CheckFiles{*std::move(json), *std::move(junit), *std::move(record)};
}

Error not_begun(const Error& error,
                const Arguments& arguments,
                CheckFiles& files,
                Streams& streams) {
  if (error.kind == Error::Kind::usage || !files.junit.is_requested()) return error;
  TextStream junit;
  properties::write_junit_error(words_of_subject(arguments), error.message, junit);
  const auto written = files.junit.write(junit.str(), streams);
  return written ? error : written.error();
}

}  // namespace kv::cli
