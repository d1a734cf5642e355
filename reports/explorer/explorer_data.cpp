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

std::string json_of(const ExplorerSteps& steps, PackedArrays& arrays) {
  const std::int64_t mass =
      steps.mass.empty() ? -1 : static_cast<std::int64_t>(arrays.add(std::span(steps.mass)));
  return JsonObject()
      .add("slots", arrays.add(std::span(steps.slots)))
      .add("retained", arrays.add(std::span(steps.retained)))
      .add("mass", mass)
      .add_raw("decisions",
               json_list(steps.decisions, [](const Decision& d) { return json_of(d); }))
      .text();
}

// The steps of the units of one cell.
class StepsOfCell {
 public:
  StepsOfCell(const ExplorerTrace* trace, std::size_t cell) : trace_(trace), cell_(cell) {}

  // Null if there are none.
  [[nodiscard]] const ExplorerSteps* of(const Residency& unit) const {
    if (trace_ == nullptr) return nullptr;
    for (const ExplorerSteps& one : trace_->steps) {
      if (one.cell == cell_ && one.layer == unit.layer && one.head == unit.head) return &one;
    }
    return nullptr;
  }

 private:
  const ExplorerTrace* trace_;
  std::size_t cell_;
};

std::string json_of(const CellResult& cell,
                    const std::string& label,
                    const StepsOfCell& steps,
                    PackedArrays& arrays) {
  const Spec& spec = cell.cell.spec;
  const std::string units = json_list(cell.residency, [&](const Residency& unit) {
    JsonObject json;
    json.add("layer", std::uint64_t{unit.layer})
        .add("head", std::uint64_t{unit.head})
        .add("lifetimes", is_narrow(unit.evicted_at.size())
                              ? add_lifetimes<std::uint16_t>(unit, arrays)
                              : add_lifetimes<std::uint32_t>(unit, arrays));
    if (const ExplorerSteps* own = steps.of(unit)) json.add_raw("steps", json_of(*own, arrays));
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
      .add_raw("units", units)
      .text();
}

std::string json_of(const ReplayResult& result,
                    std::span<const ExplorerTrace> traces,
                    PackedArrays& arrays) {
  const auto found = std::ranges::find(traces, result.trace.checksum, &ExplorerTrace::checksum);
  const ExplorerTrace* const own = found == traces.end() ? nullptr : &*found;
  std::vector<Spec> specs;
  for (const CellResult& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::vector<std::string> labels = labels_of(specs);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Only the first seed of a spec has its residency recorded.
    if (result.cells[i].residency.empty()) continue;
    cells.push_back(json_of(result.cells[i], labels[i], {own, i}, arrays));
  }
  const bool words = own != nullptr && own->transcript.text_ends.size() == result.trace.tokens;
  return JsonObject()
      .add("name", result.trace.name)
      .add("model", result.trace.model)
      .add("checksum", hexadecimal(result.trace.checksum))
      .add("tokens", std::uint64_t{result.trace.tokens})
      .add("bytes", std::uint64_t{is_narrow(result.trace.tokens) ? 2U : 4U})
      .add_raw("words", words ? words_of(own->transcript) : "[]")
      .add_raw("cells", json_list(cells, [](const std::string& cell) { return cell; }))
      .text();
}

}  // namespace

ExplorerSteps explorer_steps(std::size_t cell, const UnitSteps& steps) {
  ExplorerSteps out{.cell = cell,
                    .layer = steps.residency.layer,
                    .head = steps.residency.head,
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

std::string explorer_data(const StoredRun& run, std::span<const ExplorerTrace> traces) {
  PackedArrays arrays;
  std::string json =
      JsonObject()
          .add("version", run.summary.version)
          .add("command", run.summary.command)
          .add_raw("traces",
                   json_list(run.traces,
                             [&](const auto& trace) { return json_of(trace, traces, arrays); }))
          .text();
  // Blanks, so that the arrays begin at a multiple of 4.
  json.resize((json.size() + 3) / 4 * 4, ' ');
  std::string out;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    out += static_cast<char>(json.size() >> (8 * byte) & 0xFFU);
  }
  return out.append(json).append(arrays.bytes());
}

Result<std::string> explorer_page(const StoredRun& run, std::span<const ExplorerTrace> traces) {
  const auto recorded = [](const CellResult& cell) { return !cell.residency.empty(); };
  const bool any = std::ranges::any_of(run.traces, [&](const ReplayResult& trace) {
    return std::ranges::any_of(trace.cells, recorded);
  });
  if (!any) {
    return Error{Error::Kind::unsupported,
                 "run " + std::to_string(run.summary.id) +
                     " holds no trace with recorded residency; expected a run of kvcheck replay"};
  }
  return page_with(run.summary.command, explorer_data(run, traces));
}

}  // namespace kv::reports
