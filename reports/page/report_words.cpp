// The text of a trace, in which the shade of a word says how many caches still hold it.
#include <algorithm>
#include <cstdint>

#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_texts = 8;
constexpr std::size_t shades = 4;

// The specs of one budget in the order of their retained mass, the best first.
std::vector<const SpecSummary*> best_of(const std::vector<SpecSummary>& all, std::uint32_t budget) {
  std::vector<const SpecSummary*> some;
  for (const SpecSummary& one : all) {
    if (one.spec.bounded() && one.spec.budget == budget) some.push_back(&one);
  }
  std::ranges::stable_sort(some, std::greater<>(),
                           [](const SpecSummary* one) { return one->after.retained_mass.mean; });
  some.resize(std::min(some.size(), most_texts));
  return some;
}

const CellResult* first_cell_of(const ReplayResult& result, const Spec& spec) {
  const auto cell = std::ranges::find_if(result.cells, [&](const CellResult& one) {
    return one.cell.spec.canonical() == spec.canonical();
  });
  return cell == result.cells.end() ? nullptr : &*cell;
}

std::string text_of(const Transcript& transcript, const CellResult& cell) {
  std::string out = "<p class=\"text\" tabindex=\"0\">";
  std::size_t begin = 0;
  for (std::size_t i = 0; i < transcript.text_ends.size(); ++i) {
    // A character whose bytes are those of several tokens is shown with the first of them.
    auto end = std::max(begin, static_cast<std::size_t>(transcript.text_ends[i]));
    while (end < transcript.text.size() && (transcript.text[end] & 0xC0) == 0x80) ++end;
    const std::string word = html_lines_escaped(transcript.text.substr(begin, end - begin));
    begin = end;
    // A word that one cache of many holds has the first shade, and not none.
    const std::size_t shade = (cell.kept[i] * shades + cell.units.size() - 1) / cell.units.size();
    out += "<span class=\"held-" + std::to_string(shade) + "\">" + word + "</span>";
  }
  return out + "</p>\n";
}

}  // namespace

std::string words_block(const ReplayResult& result, const std::vector<ExplorerTrace>& traces) {
  const auto trace = std::ranges::find(traces, result.trace.checksum, &ExplorerTrace::checksum);
  if (trace == traces.end()) return "";
  const Transcript& transcript = trace->transcript;
  if (transcript.text_ends.size() != result.trace.tokens) return "";
  const std::vector<SpecSummary> all = summarise(result);
  std::vector<Spec> specs;
  for (const SpecSummary& summary : all) specs.push_back(summary.spec);
  const std::uint32_t budget = middle_budget(specs);
  std::string out;
  for (const SpecSummary* const one : best_of(all, budget)) {
    const CellResult* const cell = first_cell_of(result, one->spec);
    if (cell == nullptr || cell->units.empty() || cell->kept.size() != result.trace.tokens)
      continue;
    out += "<h4>" + html_escaped(one->name) + "</h4>\n" + text_of(transcript, *cell);
  }
  if (out.empty()) return "";
  return "<h3>Words that remain at the end, at budget " + std::to_string(budget) +
         "</h3>\n<p>The darker a word, the more of the caches of the heads and layers still hold "
         "it "
         "after the last token. Words without a shade are in none of them. Specs are ordered by "
         "retained mass; of those that draw, this is the first seed.</p>\n" +
         out;
}

}  // namespace kv::reports
