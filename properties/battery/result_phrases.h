// Words that all report writers use.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

std::string_view name_of(Status status);
std::string_view name_of(Level level);

// "feed 3; feed 1; branch 1: feed 2 of variant 1; truncate to 4": calls for people.
std::string words_of(const Call& call);
std::string words_of(const std::vector<Call>& calls);

// "sinks 1, recent 2, budget 5, 2 layers".
std::string words_of(const Setup& setup);

// Where a finding is: "query 5 of call 2 (feed 3), layer 1, head 0".
std::string where_of(const LawResult& result);

// The run that a finding is of, if a law made it of the case: its sizes, stream and calls. Empty:
// it is the case itself.
std::string run_of(const LawResult& result);

// That scores are hardly judged, and the declaration that would change this, where a subject that
// decides by attention names no reference; else empty.
std::string scores_note(const BatteryResult& result);

// "hitter, planted 3".
std::string words_of(const Stream& stream);

// A statistic in one line: "T1 inclusion of each token: 31.2, 15 degrees, p 0.008 (rejects below
// 1e-9)".
std::string words_of(const Statistic& statistic);

// The line that repeats a finding; `command` checks the subject. Empty: none is known,
// and the option stands alone.
std::string repeat_line(const LawResult& result, const std::string& command);

}  // namespace kv::properties
