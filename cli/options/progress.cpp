#include "kvcheck/cli/options/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>

namespace kv::cli {
namespace {

constexpr std::size_t columns = 79;
constexpr auto pause = std::chrono::milliseconds(100);

std::string two_digits(std::uint64_t number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 1e9));
  const std::uint64_t hours = whole / 3600;
  const std::uint64_t minutes = whole / 60 % 60;
  const std::string tail = ":" + two_digits(whole % 60);
  if (hours == 0) return std::to_string(minutes) + tail;
  return std::to_string(hours) + ":" + two_digits(minutes) + tail;
}

}  // namespace

std::string progress_line(double share, double elapsed_seconds, std::string_view label) {
  const double done = std::clamp(share, 0.0, 1.0);
  const std::string percent = std::to_string(static_cast<int>(std::floor(done * 100)));
  std::string line(percent.size() < 3 ? 3 - percent.size() : 0, ' ');
  line += percent + "%  " + clock_text(elapsed_seconds) + " elapsed";
  // An estimate from less than a percent or a second of work would vary too much.
  if (done >= 0.01 && elapsed_seconds >= 1) {
    line += ", " + clock_text(std::ceil(elapsed_seconds * (1 - done) / done)) + " left";
  }
  line += "  ";
  for (const char c : label.substr(0, columns - std::min(columns, line.size()))) {
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return line;
}

Progress::Progress(std::ostream& err, bool show) : err_(err), show_(show) {}

Progress::~Progress() {
  clear();
}

void Progress::update(double share, std::string_view label) {
  const Clock::time_point now = Clock::now();
  if (!show_ || now < next_) return;
  next_ = now + pause;
  const double elapsed = std::chrono::duration<double>(now - begun_).count();
  err_ << "\r" + progress_line(share, elapsed, label) + "\x1b[K" << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) err_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace kv::cli
