#include "kvcheck/cli/replay/source.h"

#include <string>
#include <string_view>
#include <utility>

namespace kv::cli {

std::optional<Result<SyntheticSpec>> synthetic_source(const std::string& word) {
  constexpr std::string_view prefix = "synthetic:";
  if (!word.starts_with(prefix)) return {};
  return parse_synthetic(word.substr(prefix.size()));
}

Result<Dump> open_source_dump(const std::string& word,
                              const DumpOptions& options,
                              const std::function<void(double share)>& progress) {
  const auto spec = synthetic_source(word);
  if (!spec) return open_dump(word, options, progress);
  if (!*spec) return spec->error();
  if (options.learned_sinks) {
    return usage_error("--learned-sinks is given for '" + word +
                       "', which is a generated stream; expected it for an attention dump");
  }
  if (options.kv_heads == 0) return Dump{synthetic_stream(**spec), true};
  return usage_error("--kv-heads is given for '" + word +
                     "', which is a generated stream; expected kv_heads=" +
                     std::to_string(options.kv_heads) + " among its fields");
}

Result<Trace> open_source(const std::string& word,
                          const std::function<void(double share)>& progress) {
  Result<Dump> opened = open_source_dump(word, {}, progress);
  if (!opened) return opened.error();
  return std::move(opened->trace);
}

}  // namespace kv::cli
