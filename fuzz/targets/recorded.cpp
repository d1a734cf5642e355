#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/judge/array_history.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/recorded/judge_file.h"

namespace kv::fuzz {

// A file of recorded histories, judged by every law and printed, under a bound of memory that some
// inputs exceed.
bool recorded(Input input) {
  properties::JudgeOptions options;
  options.bytes = std::uint64_t{1} << 18U;
  const auto report = properties::judge_file(text_of(input), "the input", options);
  if (!report) return refused(report.error());
  TextStream text;
  properties::write_text(*report, "", text);
  properties::write_json(*report, text);
  KV_CHECK(!text.str().empty() && report->cases > 0);
  return true;
}

// A recorded run as arrays: what becomes of it are lines that can be judged, or that are refused
// for what the head declares.
bool array_history(Input input) {
  const std::string_view text = text_of(input);
  static_cast<void>(cli::is_array_history(text));
  const auto lines = cli::lines_of_arrays(text, "the input");
  if (!lines) return refused(lines.error());
  KV_CHECK(lines->ends_with("\n"));
  properties::JudgeOptions options;
  options.bytes = std::uint64_t{1} << 18U;
  options.filter = {"rows.*", "resident.*", "size.stored"};
  const auto report = properties::judge_file(*lines, "the input", options);
  return report ? true : refused(report.error());
}

}  // namespace kv::fuzz
