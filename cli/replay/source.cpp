#include "kvcheck/cli/replay/source.h"

#include <string_view>

namespace kv::cli {

std::optional<Result<SyntheticSpec>> synthetic_source(const std::string& word) {
  constexpr std::string_view prefix = "synthetic:";
  if (!word.starts_with(prefix)) return {};
  return parse_synthetic(word.substr(prefix.size()));
}

Result<Trace> open_source(const std::string& word,
                          const std::function<void(double share)>& progress) {
  const auto spec = synthetic_source(word);
  if (!spec) return open_trace(word, progress);
  if (!*spec) return spec->error();
  return make_synthetic(**spec);
}

}  // namespace kv::cli
