// All laws tried on all runs of a file of histories.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/recorded/history_file.h"

namespace kv::properties {

struct JudgeOptions {
  std::vector<std::string> filter{};  // as BatteryOptions::filter
  bool strict = false;
  bool explain = true;  // no: a broken law is not judged again under other contracts
  Redeclared redeclared{};
  std::uint64_t bytes = std::uint64_t{1} << 30U;  // that the rows of a run may take
};

// One result for each law, of the first run that breaks it; its cases are the runs. A run that does
// not fit into the memory is judged in blocks of layers and heads, where its units share nothing;
// what fits of a block's calls is judged, and laws that hold of them say so. An error if the file
// is malformed, has no run, or declares what no law knows.
Result<BatteryResult> judge_file(std::string_view text,
                                 const std::string& name,
                                 const JudgeOptions& options);

}  // namespace kv::properties
