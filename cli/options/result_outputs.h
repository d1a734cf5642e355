// The output files of a replay or an evaluation, checked before the work begins.
#pragma once

#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::cli {

// The paths of the outputs; an empty one is not written. All but the results may be "-", which
// stands for standard output.
struct Outputs {
  std::string results;
  std::string json;
  std::string csv;
  std::string markdown{};

  [[nodiscard]] bool on_standard_output() const {
    return json == "-" || csv == "-" || markdown == "-";
  }
};

// Returns an error if two outputs are one file, if an output would replace an input, or if a file
// cannot be created at its path. Leaves no file behind. ResultsWriter checks the results file
// itself.
Result<void> check_outputs(const Outputs& outputs, std::span<const std::string> inputs);

}  // namespace kv::cli
