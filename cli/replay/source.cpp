#include "kvcheck/cli/replay/source.h"

#include <string_view>

#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::cli {

Result<Trace> open_source(const std::string& word,
                          const std::function<void(double share)>& progress) {
  constexpr std::string_view prefix = "synthetic:";
  if (!word.starts_with(prefix)) return open_trace(word, progress);
  const Result<SyntheticSpec> spec = parse_synthetic(word.substr(prefix.size()));
  if (!spec) return spec.error();
  return make_synthetic(*spec);
}

}  // namespace kv::cli
