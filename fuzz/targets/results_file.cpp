#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/results_checks.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {
namespace {

// The file with single bytes changed: each change is an offset of three bytes and the new byte.
std::string changed(std::string_view whole, std::string_view changes) {
  std::string bytes(whole);
  for (std::size_t at = 0; at + 4 <= changes.size(); at += 4) {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(changes[at + i]));
    };
    const std::size_t offset = byte(0) << 16U | byte(1) << 8U | byte(2);
    bytes[offset % bytes.size()] = changes[at + 3];
  }
  return bytes;
}

}  // namespace

bool results_file(Input input) {
  const std::string_view text = text_of(input);
  if (text.starts_with("SQLite format 3")) {
    return try_results(scratch_file("results", text));
  }
  return try_results(scratch_file("results", changed(bytes_of(right_results("results")), text)));
}

}  // namespace kv::fuzz
