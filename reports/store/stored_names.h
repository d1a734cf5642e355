// The words that results files and reports use for a trace's enumerations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kvcheck/traces/trace.h"

namespace kv::reports {

std::string_view stored_word(TraceKind kind);
std::string_view stored_word(RopeLayout layout);
std::string_view stored_word(Number number);

std::optional<TraceKind> trace_kind_of(std::string_view word);
std::optional<RopeLayout> rope_layout_of(std::string_view word);
std::optional<Number> number_of(std::string_view word);

}  // namespace kv::reports
