#include "cli/source.h"

namespace kv::cli {

// INTEGRATOR: words that name a synthetic stream go to parse_synthetic and make_synthetic
// (traces/synthetic.h) here, and source.h says so.
Result<Trace> open_source(const std::string& word) {
  return open_trace(word);
}

}  // namespace kv::cli
