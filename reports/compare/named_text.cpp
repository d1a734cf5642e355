#include "kvcheck/reports/compare/named_text.h"

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/timed_medians.h"

namespace kv::reports {
namespace {

NamedText with_checksum(const std::string& before,
                        const std::string& file,
                        std::uint64_t checksum,
                        const std::string& after) {
  const std::string rest = "checksum " + hexadecimal(checksum) + after;
  return {before + rest, before + file + ", " + rest};
}

}  // namespace

std::string last_part(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

NamedText named(const TraceInfo& trace) {
  return with_checksum("", trace.name, trace.checksum, marks_text(trace.marks));
}

NamedText named(const ClosedLoopResult& text, const std::string& model) {
  return with_checksum(
      model + " on ", last_part(text.text), text.checksum,
      ", " + std::to_string(text.tokens) + " tokens in " + std::to_string(text.streams) +
          (text.streams == 1 ? " stream, " : " streams, ") +
          (text.window == 0 ? "" : "windows of " + std::to_string(text.window) + ", ") +
          text.storage + marks_text(text.marks));
}

NamedText named(const TaskResult& result,
                const AskedItem& item,
                const std::string& model,
                bool by_text) {
  const std::string after = ", " + model + ", " + result.storage;
  const std::string of = "item " + item.id + " of ";
  const std::string file = last_part(result.file);
  if (!by_text || item.checksum == 0) return with_checksum(of, file, result.checksum, after);
  return {"item " + hexadecimal(item.checksum) + after,
          of + file + ", checksum " + hexadecimal(item.checksum) + after};
}

NamedText named(const TimingResult& result, const TimedCell& cell) {
  const std::string machine = machine_text(cell);
  const std::string name =
      "run " + std::to_string(cell.repetition) + " of " + last_part(result.model) + ", weights " +
      result.weights + ", " + result.storage + ", " + std::to_string(result.threads) +
      (result.threads == 1 ? " thread, " : " threads, ") + (machine.empty() ? "" : machine + ", ") +
      std::to_string(cell.length) + " tokens before " + std::to_string(result.tokens);
  return {name, name};
}

}  // namespace kv::reports
