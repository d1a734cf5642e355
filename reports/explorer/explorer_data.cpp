#include <algorithm>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {
namespace {

// Little-endian numbers of `width` bytes, in base64.
std::string packed(std::span<const Position> numbers, std::size_t width) {
  std::string bytes;
  bytes.reserve(numbers.size() * width);
  for (const Position number : numbers) {
    for (std::size_t byte = 0; byte < width; ++byte) {
      bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * byte) & 0xFFU);
    }
  }
  return json_string(base64(bytes));
}

std::string words_of(const Transcript& transcript) {
  std::size_t begin = 0;
  return json_list(transcript.text_ends, [&](std::int64_t end) {
    // A token may end within a character; json_string() shows the parts as U+FFFD.
    const std::size_t from = std::exchange(begin, static_cast<std::size_t>(end));
    return json_string(std::string_view(transcript.text).substr(from, begin - from));
  });
}

std::string json_of(const CellResult& cell, const std::string& label, std::size_t width) {
  const std::string units = json_list(cell.residency, [&](const Residency& unit) {
    return JsonObject()
        .add("layer", std::uint64_t{unit.layer})
        .add("head", std::uint64_t{unit.head})
        .add_raw("evicted", packed(unit.evicted_at, width))
        .text();
  });
  return JsonObject()
      .add("label", label)
      .add("spec", cell.cell.spec.canonical())
      .add("budget", std::uint64_t{cell.cell.spec.budget})
      .add("seed", std::to_string(cell.cell.seed))
      .add_raw("units", units)
      .text();
}

std::string json_of(const ReplayResult& result, std::span<const ExplorerText> texts) {
  const std::size_t width = result.trace.tokens + 1 <= 0xFFFF ? 2 : 4;
  std::vector<Spec> specs;
  for (const CellResult& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::vector<std::string> labels = labels_of(specs);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Only the first seed of a spec has its residency recorded.
    if (result.cells[i].residency.empty()) continue;
    cells.push_back(json_of(result.cells[i], labels[i], width));
  }
  const auto text = std::ranges::find(texts, result.trace.checksum, &ExplorerText::checksum);
  const bool found =
      text != texts.end() && text->transcript.text_ends.size() == result.trace.tokens;
  return JsonObject()
      .add("name", result.trace.name)
      .add("model", result.trace.model)
      .add("checksum", hexadecimal(result.trace.checksum))
      .add("tokens", std::uint64_t{result.trace.tokens})
      .add("bytes", std::uint64_t{width})
      .add_raw("words", found ? words_of(text->transcript) : "[]")
      .add_raw("cells", json_list(cells, [](const std::string& cell) { return cell; }))
      .text();
}

}  // namespace

std::string explorer_data(const StoredRun& run, std::span<const ExplorerText> texts) {
  const std::string json =
      JsonObject()
          .add("version", run.summary.version)
          .add("command", run.summary.command)
          .add_raw("traces",
                   json_list(run.traces, [&](const auto& trace) { return json_of(trace, texts); }))
          .text();
  // JSON has '<' in strings only. A text with "</script>" would otherwise end the data.
  std::string out;
  out.reserve(json.size());
  for (const char c : json) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

}  // namespace kv::reports
