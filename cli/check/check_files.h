// The files of `kvcheck check`, which are opened before the cache begins.
#pragma once

#include "kvcheck/cli/options/late_file.h"
#include "kvcheck/cli/options/options.h"

namespace kv::cli {

// The files to which results are written.
struct CheckFiles {
  LateFile json;
  LateFile junit;
  LateFile record;

  [[nodiscard]] bool take_output() const {
    return json.is_standard_output() || junit.is_standard_output() || record.is_standard_output();
  }
};

// Errors: one output twice, and a file that cannot be created.
Result<CheckFiles> open_check_files(const Arguments& arguments);

// The error that a cache did not begin with. The JUnit file tells it those that read nothing else,
// unless the command line is wrong, which is mended where it was typed.
Error not_begun(const Error& error,
                const Arguments& arguments,
                CheckFiles& files,
                Streams& streams);

}  // namespace kv::cli
