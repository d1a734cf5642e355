// Recorded histories in tests.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/properties/recorded/judge_file.h"
#include "kvcheck/properties/recorded/record_cases.h"

namespace kv::properties {

inline Result<BatteryResult> judged(const std::string& text, const JudgeOptions& options = {}) {
  return judge_file(text, "run.jsonl", options);
}

inline const LawResult* result_of(const BatteryResult& report, std::string_view id) {
  for (const LawResult& result : report.laws) {
    if (result.law->id == id) return &result;
  }
  return nullptr;
}

// The cases that laws share, as `kvcheck check --record` writes them; `count` gets their numbers.
inline std::string recorded(Family& family, std::uint32_t cases, RecordedCases* count = nullptr) {
  BatteryOptions options;
  options.cases = cases;
  std::string lines;
  const auto done = record_cases(family, options, [&](std::string_view more) -> Result<void> {
    lines += more;
    return {};
  });
  EXPECT_TRUE(done.has_value());
  if (done && count != nullptr) *count = *done;
  return lines;
}

}  // namespace kv::properties
