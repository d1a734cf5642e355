#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/explorer/packed_arrays.h"
#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {
namespace {

// How long each position lived, 0 for one that was never evicted. Lifetimes repeat where times of
// evictions grow, so that they compress to much less.
template <typename Number>
std::uint64_t add_lifetimes(const Residency& unit, PackedArrays& arrays) {
  std::vector<Number> lifetimes;
  const std::size_t tokens = unit.evicted_at.size();
  for (std::size_t p = 0; p < tokens; ++p) {
    const std::size_t at = unit.evicted_at[p];
    lifetimes.push_back(static_cast<Number>(at > tokens ? 0 : at - p));
  }
  return arrays.add(std::span<const Number>(lifetimes));
}

std::string words_of(const Transcript& transcript) {
  std::size_t begin = 0;
  return json_list(transcript.text_ends, [&](std::int64_t end) {
    // A token may end within a character; json_string() shows the parts as U+FFFD.
    const std::size_t from = std::exchange(begin, static_cast<std::size_t>(end));
    return json_string(std::string_view(transcript.text).substr(from, begin - from));
  });
}

std::string json_of(const CellResult& cell,
                    const std::string& label,
                    bool narrow,
                    PackedArrays& arrays) {
  const Spec& spec = cell.cell.spec;
  const std::string units = json_list(cell.residency, [&](const Residency& unit) {
    return JsonObject()
        .add("layer", std::uint64_t{unit.layer})
        .add("head", std::uint64_t{unit.head})
        .add("lifetimes", narrow ? add_lifetimes<std::uint16_t>(unit, arrays)
                                 : add_lifetimes<std::uint32_t>(unit, arrays))
        .text();
  });
  return JsonObject()
      .add("label", label)
      .add("spec", spec.canonical())
      .add("policy", spec.policy->name)
      .add("budget", spec.budget_text())
      .add("seed", std::to_string(cell.cell.seed))
      .add("bounded", spec.bounded())
      .add("sinks", std::uint64_t{spec.sinks})
      .add("recent", std::uint64_t{spec.recent})
      .add("timing", name_of(spec.timing))
      .add("visibility", name_of(spec.visibility))
      .add("selects", spec.selects())
      .add("positions", name_of(spec.positions))
      .add("ranks", are_ranks(spec.positions))
      .add("unit", name_of(spec.unit))
      .add_raw("units", units)
      .text();
}

std::string json_of(const ReplayResult& result,
                    std::span<const ExplorerText> texts,
                    PackedArrays& arrays) {
  const bool narrow = result.trace.tokens <= std::numeric_limits<std::uint16_t>::max();
  std::vector<Spec> specs;
  for (const CellResult& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::vector<std::string> labels = labels_of(specs);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Only the first seed of a spec has its residency recorded.
    if (result.cells[i].residency.empty()) continue;
    cells.push_back(json_of(result.cells[i], labels[i], narrow, arrays));
  }
  const auto text = std::ranges::find(texts, result.trace.checksum, &ExplorerText::checksum);
  const bool found =
      text != texts.end() && text->transcript.text_ends.size() == result.trace.tokens;
  return JsonObject()
      .add("name", result.trace.name)
      .add("model", result.trace.model)
      .add("checksum", hexadecimal(result.trace.checksum))
      .add("tokens", std::uint64_t{result.trace.tokens})
      .add("bytes", std::uint64_t{narrow ? 2U : 4U})
      .add_raw("words", found ? words_of(text->transcript) : "[]")
      .add_raw("cells", json_list(cells, [](const std::string& cell) { return cell; }))
      .text();
}

}  // namespace

std::string explorer_data(const StoredRun& run, std::span<const ExplorerText> texts) {
  PackedArrays arrays;
  std::string json =
      JsonObject()
          .add("version", run.summary.version)
          .add("command", run.summary.command)
          .add_raw("traces",
                   json_list(run.traces,
                             [&](const auto& trace) { return json_of(trace, texts, arrays); }))
          .text();
  // Blanks, so that the arrays begin at a multiple of 4.
  json.resize((json.size() + 3) / 4 * 4, ' ');
  std::string out;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    out += static_cast<char>(json.size() >> (8 * byte) & 0xFFU);
  }
  return out.append(json).append(arrays.bytes());
}

}  // namespace kv::reports
