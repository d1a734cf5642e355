// Where the results of a replay or an evaluation go, checked before the work begins.
#pragma once

#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::cli {

// Paths; an empty one is not wanted. All but the results may be "-" for
// standard output.
struct Outputs {
  std::string results;
  std::string json;
  std::string csv;
  std::string markdown{};

  [[nodiscard]] bool on_standard_output() const {
    return json == "-" || csv == "-" || markdown == "-";
  }
};

// An error if two outputs are one file, if one would replace an input, or if a file could not be
// made there now. Leaves nothing behind. The results file itself is ResultsWriter's to judge.
Result<void> check_outputs(const Outputs& outputs, std::span<const std::string> inputs);

}  // namespace kv::cli
