// One line on a terminal that says how far long work is, and when it will be done.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kv::cli {

// "  41%  0:12 elapsed, 0:17 left  LABEL": at most 79 columns, control characters replaced. The
// time left is missing as long as too little is done to tell.
std::string progress_line(double share, double elapsed_seconds, std::string_view label);

class Progress {
 public:
  // Silent unless `show`.
  Progress(std::ostream& err, bool show);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Removes the line.
  ~Progress();

  // Updates the line in place, a few times a second at most. `share` is in [0, 1]. From any thread,
  // but never from two at once.
  void update(double share, std::string_view label);

  // Removes the line, so that other words can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& err_;
  bool show_;
  bool drawn_ = false;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_;
};

}  // namespace kv::cli
