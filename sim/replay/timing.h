// How fast a model runs with each policy, over growing lengths: the results of `kvcheck speed`.
// Times depend on the machine and on its load.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv {

// One spec after a prompt of one length, timed once.
struct TimedCell {
  Cell cell;
  std::size_t length = 0;      // tokens of the prompt
  double first_token_s = 0;    // from the empty cache to the prompt's last logits
  double token_s = 0;          // median time of a token after it
  double mean_token_s = 0;     // of the same tokens; 0: not known (files before version 10)
  double attention_s = 0;      // median time that such a token spends in attention
  std::size_t kv_bytes = 0;    // of keys and values at their peak
  std::size_t peak_bytes = 0;  // of the process while it ran; 0 if the system does not report it
  std::size_t repetition = 1;  // which of the runs over all specs and lengths, from 1
  // What ran it: the name of kernels(), and processor_name(). Empty: not known.
  std::string kernels{};
  std::string processor{};
};

struct TimingResult {
  std::string model;    // its path, as given
  std::string weights;  // how the layers' weights were stored: as-is, f32, int8 or nf4
  std::size_t weight_bytes = 0;
  std::string storage;             // of keys and values
  std::size_t tokens = 0;          // timed one by one after each prompt
  std::size_t threads = 0;         // that shared each pass; 0: not known (files before version 9)
  std::vector<TimedCell> cells{};  // by repetition, then spec, then length, as given
};

}  // namespace kv
