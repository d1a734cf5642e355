// The tables that a report keeps beside its page, as files with names and contents.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kv {
struct ClosedLoopResult;
struct ReplayResult;
struct TaskResult;
struct TimingResult;
}  // namespace kv

namespace kv::reports {

using SectionFiles = std::vector<std::pair<std::string, std::string>>;

SectionFiles files_of(const ReplayResult& result);
SectionFiles files_of(const ClosedLoopResult& result);
SectionFiles files_of(const TimingResult& result);
SectionFiles files_of(const TaskResult& result);

}  // namespace kv::reports
