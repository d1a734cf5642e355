// What came out, in sentences made from the numbers.
#pragma once

#include <string>
#include <vector>

namespace kv {
struct ClosedLoopResult;
struct ReplayResult;
struct TaskResult;
struct TimingResult;
}  // namespace kv

namespace kv::reports {

// Sentences about a replay at its middle budget: which policy kept most of the attention, by how
// much, and which kept least; the best at every other budget. Only specs whose units never hold
// clearly more rows than their budget are ranked, because the others store more; they are named
// last. No sentences if fewer than two specs have a budget in common.
std::vector<std::string> findings_of(const ReplayResult& result);

// The same about an evaluation: perplexity, and the recall of facts that are far back, beside those
// of the model with nothing evicted and keys and values stored as the run says. Policies that store
// no more than the budget are ranked; if there are not two of them, those that store more. A
// sentence names the others. Where all that
// evict nothing are stored in another way, the sentences name it. Where there are several forms, a
// sentence has the perplexity and the size of each, also without policies to compare.
std::vector<std::string> findings_of(const ClosedLoopResult& result);

// How many items the best and the worst policy of the middle budget answered exactly, beside the
// model with nothing evicted, of policies ranked as above. No sentence without a budget.
std::vector<std::string> findings_of(const TaskResult& result);

// After the longest prompt, the specs with which a token took the least and the most time, as
// medians over repetitions. No sentence of a single spec.
std::vector<std::string> findings_of(const TimingResult& result);

struct TextsSection;

// Of each kind of results, by its first measure: the best at the budget of most specs, and how many
// others are shown to be worse or equal. No sentence where fewer than two are compared.
std::vector<std::string> findings_of(const TextsSection& section);

// The sentences as a paragraph of HTML; empty if there are none.
std::string findings_html(const std::vector<std::string>& findings);

struct ReportSections;

// What came out of each section of a page, with a link to it, as HTML.
std::string page_findings(const ReportSections& page);

}  // namespace kv::reports
