#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/explorer/explorer_page.h"
#include "kvcheck/reports/explorer/packed_arrays.h"
#include "kvcheck/reports/explorer/telling_cache.h"
#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {
namespace {

bool is_narrow(std::size_t tokens) {
  return tokens <= std::numeric_limits<std::uint16_t>::max();
}

// The shortest text that reads back as the same number in single precision.
std::string shortest_float(float value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

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

std::string json_of(const ScoredPosition& scored) {
  // Single precision is more than a reader needs. JSON has no NaN and no infinity.
  const std::string score =
      !std::isfinite(scored.score) ? "null" : shortest_float(static_cast<float>(scored.score));
  return "[" + std::to_string(scored.position) + "," + score + "]";
}

std::string json_of(const Decision& decision) {
  const auto json = [](const ScoredPosition& scored) { return json_of(scored); };
  return JsonObject()
      .add("seen", std::uint64_t{decision.seen})
      .add("candidates", std::uint64_t{decision.candidates})
      .add_raw("victims", json_list(decision.victims, json))
      .add_raw("next", json_list(decision.next, json))
      .text();
}

// Writes the index of a page, and sets aside what is large as parts.
class Writer {
 public:
  // Of the traces, only the one that the page opens with has parts that its first view needs.
  std::string json_of(const ReplayResult& result, const ExplorerTrace* own, bool opens);

  std::vector<ExplorerPart> parts() && { return std::move(parts_); }

 private:
  struct Shown {
    const ReplayResult& result;
    const ExplorerTrace* own;  // null if nothing is known but the results
    TellingCache telling;
    bool opens;
  };

  std::uint64_t add(std::string bytes, bool opened) {
    parts_.push_back({std::move(bytes), opened});
    return parts_.size() - 1;
  }

  std::string json_of(const ExplorerSteps& steps, bool opened);
  std::string json_of(const Shown& shown, std::size_t index, const std::string& label);

  std::vector<ExplorerPart> parts_;
};

std::string Writer::json_of(const ExplorerSteps& steps, bool opened) {
  PackedArrays arrays;
  const std::uint64_t slots = arrays.add(std::span(steps.slots));
  const std::uint64_t retained = arrays.add(std::span(steps.retained));
  const std::int64_t mass =
      steps.mass.empty() ? -1 : static_cast<std::int64_t>(arrays.add(std::span(steps.mass)));
  const auto json = [](const Decision& decision) { return reports::json_of(decision); };
  return JsonObject()
      .add("part", add(arrays.bytes(), opened))
      .add("window", std::uint64_t{steps.window})
      .add("slots", slots)
      .add("retained", retained)
      .add("mass", mass)
      .add("decisions", add(json_list(steps.decisions, json), opened))
      .text();
}

std::string Writer::json_of(const Shown& shown, std::size_t index, const std::string& label) {
  const CellResult& cell = shown.result.cells[index];
  const Spec& spec = cell.cell.spec;
  const bool telling = shown.opens && shown.telling.cell == index;
  PackedArrays lifetimes;
  const std::string units = json_list(cell.residency, [&](const Residency& unit) {
    JsonObject json;
    json.add("layer", std::uint64_t{unit.layer})
        .add("head", std::uint64_t{unit.head})
        .add("lifetimes", is_narrow(unit.evicted_at.size())
                              ? add_lifetimes<std::uint16_t>(unit, lifetimes)
                              : add_lifetimes<std::uint32_t>(unit, lifetimes));
    if (const ExplorerSteps* steps = steps_of(shown.own, index, unit)) {
      const bool opened = telling && &cell.residency[shown.telling.unit] == &unit;
      json.add_raw("steps", json_of(*steps, opened));
    }
    return json.text();
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
      .add("part", add(lifetimes.bytes(), telling))
      .add_raw("units", units)
      .text();
}

std::string Writer::json_of(const ReplayResult& result, const ExplorerTrace* own, bool opens) {
  const Shown shown = {result, own, telling_cache(result, own), opens};
  std::vector<Spec> specs;
  for (const CellResult& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::vector<std::string> labels = labels_of(specs);
  std::vector<std::string> cells;
  std::uint64_t telling = 0;  // among the cells of the page
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i == shown.telling.cell) telling = cells.size();
    // Not every seed of a spec has its residency recorded.
    if (!result.cells[i].residency.empty()) cells.push_back(json_of(shown, i, labels[i]));
  }
  const bool words = own != nullptr && own->transcript.text_ends.size() == result.trace.tokens;
  return JsonObject()
      .add("name", result.trace.name)
      .add("model", result.trace.model)
      .add("checksum", hexadecimal(result.trace.checksum))
      .add("tokens", std::uint64_t{result.trace.tokens})
      .add("bytes", std::uint64_t{is_narrow(result.trace.tokens) ? 2U : 4U})
      .add("text", words ? static_cast<std::int64_t>(add(words_of(own->transcript), opens)) : -1)
      .add_raw("telling",
               "[" + std::to_string(telling) + "," + std::to_string(shown.telling.unit) + "]")
      .add_raw("cells", json_list(cells, [](const std::string& cell) { return cell; }))
      .text();
}

}  // namespace

ExplorerSteps explorer_steps(std::size_t cell, const UnitSteps& steps, std::size_t window) {
  ExplorerSteps out{.cell = cell,
                    .layer = steps.residency.layer,
                    .head = steps.residency.head,
                    .window = window,
                    .slots = steps.slots,
                    .retained = steps.retained,
                    .mass = {},
                    .decisions = steps.decisions};
  for (const float mass : steps.mass) {
    const float code = std::round(-16 * std::log2(std::max(mass, 1e-9F)));
    out.mass.push_back(static_cast<std::uint8_t>(std::clamp(code, 0.0F, 255.0F)));
  }
  return out;
}

ExplorerData explorer_data(const StoredRun& run, std::span<const ExplorerTrace> traces) {
  Writer writer;
  bool opens = true;
  const std::string shown = json_list(run.traces, [&](const ReplayResult& result) {
    const auto found = std::ranges::find(traces, result.trace.checksum, &ExplorerTrace::checksum);
    const bool here = has_residency(result) && std::exchange(opens, false);
    return writer.json_of(result, found == traces.end() ? nullptr : &*found, here);
  });
  std::string index = JsonObject()
                          .add("version", run.summary.version)
                          .add("command", run.summary.command)
                          .add_raw("traces", shown)
                          .text();
  return {std::move(index), std::move(writer).parts()};
}

Result<std::string> explorer_page(const StoredRun& run, std::span<const ExplorerTrace> traces) {
  if (!std::ranges::any_of(run.traces, has_residency)) {
    return Error{Error::Kind::unsupported,
                 "run " + std::to_string(run.summary.id) +
                     " holds no trace with recorded residency; expected a run of kvcheck replay"};
  }
  return page_with(run.summary.command, explorer_data(run, traces));
}

bool has_residency(const ReplayResult& trace) {
  return std::ranges::any_of(trace.cells,
                             [](const CellResult& cell) { return !cell.residency.empty(); });
}

}  // namespace kv::reports
