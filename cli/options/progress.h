// One line on a terminal that shows the progress of long work and the time that is left.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kv::cli {

// " 41% 0:12 elapsed, 0:17 left LABEL": at most 79 columns, control characters replaced. The time
// left is omitted while too little is done to estimate it.
std::string progress_line(double share, double elapsed_seconds, std::string_view label);

class Progress {
 public:
  // Silent unless `show`.
  Progress(std::ostream& err, bool show);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Removes the line.
  ~Progress();

  // Updates the line in place, at most a few times a second. `share` is in [0, 1]. May be called
  // from any thread, but not from two at once.
  void update(double share, std::string_view label);

  // Removes the line, so that other text can be printed.
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
