// What a results file tells of one run before its results are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kv::reports {

struct RunSummary {
  std::int64_t id = 0;
  std::string version;
  std::string command;
  bool complete = false;
  std::size_t traces = 0;
  std::size_t evaluations = 0;
  std::size_t timings = 0;
  std::size_t tasks = 0;  // task files
  std::size_t cells = 0;  // of all
};

}  // namespace kv::reports
