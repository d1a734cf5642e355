// A recorded run beside policies and the oracle: what each retains of the attention of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/recorded/history_file.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::cli {

struct BesideOptions {
  std::string trace;                    // a source of attention (cli/replay/source.h)
  std::vector<std::string> policies{};  // specs; those without a budget have the run's
  bool oracle = false;                  // whether the optimum is computed
  std::uint64_t bytes = 0;              // for the rows of the run
  properties::Redeclared redeclared{};  // as for the laws
};

struct Beside {
  std::string heading;  // one line: the trace, and what the numbers are
  std::string note;     // of what they do not say; may be empty
  reports::Table table;
};

// `text` is a file of histories with one run, `name` its path. The run must only feed tokens, one
// for each of the trace, on one branch of one sequence, and say what its queries saw. Errors name
// the line, or what does not fit the trace.
Result<Beside> beside_policies(std::string_view text,
                               const std::string& name,
                               const BesideOptions& options);

}  // namespace kv::cli
