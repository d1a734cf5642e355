// What came out, in sentences made from the numbers.
#pragma once

#include <string>
#include <vector>

namespace kv {
struct ClosedLoopResult;
struct ReplayResult;
}  // namespace kv

namespace kv::reports {

// Sentences about a replay at its middle budget: which policy kept most of the attention, by how
// much, and which kept least; the best at every other budget. Only specs whose units never hold
// clearly more rows than their budget are ranked, because the others store more; they are named
// last. No sentences if fewer than two specs have a budget in common.
std::vector<std::string> findings_of(const ReplayResult& result);

// The same about an evaluation: perplexity, and the recall of facts that are far back, beside those
// of the model with nothing evicted and keys and values stored as the run says. Where all that evict
// nothing are stored in another way, the sentences name it.
std::vector<std::string> findings_of(const ClosedLoopResult& result);

// The sentences as a paragraph of HTML; empty if there are none.
std::string findings_html(const std::vector<std::string>& findings);

}  // namespace kv::reports
