// What tells a text from others, in any results file, and what it is called.
#pragma once

#include <string>

#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Copies of a file are one text, whatever their names: the key has only the checksum. What keys are
// made of is said at MeasuredTexts::texts.
struct NamedText {
  std::string key;
  std::string name;
};

// The path without its folders.
std::string last_part(const std::string& path);

NamedText named(const TraceInfo& trace);
NamedText named(const TimingResult& result, const TimedCell& cell);

// `model` is what the model is called.
NamedText named(const ClosedLoopResult& text, const std::string& model);

// `by_text` is Selection::items_by_text. An item without a checksum of its own is what has this id
// in its file.
NamedText named(const TaskResult& result,
                const AskedItem& item,
                const std::string& model,
                bool by_text);

}  // namespace kv::reports
