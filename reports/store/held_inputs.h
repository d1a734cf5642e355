// What an unfinished run holds already, so that a writer that continues it stores nothing twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"

namespace kv::reports {

// The newest run of this version and command that is not complete; 0 if there is none.
Result<std::int64_t> newest_unfinished(Database& database, const std::string& command);

// The traces, texts, timings and task files of one run, in order.
struct HeldInputs {
  struct Input {
    std::string name;
    std::string checksum;
  };

  std::string where{};  // the run and its file, for messages
  std::vector<Input> traces{};
  std::vector<Input> evaluations{};
  std::size_t timings = 0;
  std::vector<Input> tasks{};

  static Result<HeldInputs> of_run(Database& database, std::int64_t run);

  // Whether the run holds, as number `ordinal`, what has this name and checksum. An error if it
  // holds something else there.
  [[nodiscard]] Result<bool> has_trace(std::int64_t ordinal,
                                       const std::string& name,
                                       std::uint64_t checksum) const {
    return has(traces, ordinal, name, checksum);
  }

  [[nodiscard]] Result<bool> has_evaluation(std::int64_t ordinal,
                                            const std::string& name,
                                            std::uint64_t checksum) const {
    return has(evaluations, ordinal, name, checksum);
  }

  [[nodiscard]] Result<bool> has_task(std::int64_t ordinal,
                                      const std::string& name,
                                      std::uint64_t checksum) const {
    return has(tasks, ordinal, name, checksum);
  }

 private:
  [[nodiscard]] Result<bool> has(const std::vector<Input>& held,
                                 std::int64_t ordinal,
                                 const std::string& name,
                                 std::uint64_t checksum) const;
};

}  // namespace kv::reports
