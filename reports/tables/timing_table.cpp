#include "kvcheck/reports/tables/timing_table.h"

#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Entry same(const std::string& text) {
  return {text, text};
}

Entry real(double value) {
  // %g writes 1120 with three digits as 1.12e+03, beside 766.
  return {formatted(value >= 100 ? "%.0f" : "%.3g", value), shortest(value)};
}

Entry bytes(std::size_t count, double unit) {
  return {formatted("%.0f", static_cast<double>(count) / unit), std::to_string(count)};
}

std::vector<Column> columns() {
  return {{.title = "policy", .name = "policy"},
          {.title = "budget", .name = "budget", .number = true},
          {.title = "length", .name = "length", .number = true},
          {.title = "first ms", .name = "first_token_ms", .number = true},
          {.title = "token ms", .name = "token_ms", .number = true},
          {.title = "mean ms", .name = "mean_token_ms", .number = true},
          {.title = "tokens/s", .name = "tokens_per_s", .number = true},
          {.title = "attention ms", .name = "attention_ms", .number = true},
          {.title = "KV KiB", .name = "kv_bytes", .number = true},
          {.title = "peak MiB", .name = "peak_bytes", .number = true}};
}

// The numbers of a cell, as the last of the columns; the place of tokens a second among them.
constexpr std::size_t per_second = 3;

std::vector<Entry> numbers_of(const TimedCell& cell) {
  const Entry mean = cell.mean_token_s > 0 ? real(1e3 * cell.mean_token_s) : Entry{};
  return {real(1e3 * cell.first_token_s),
          real(1e3 * cell.token_s),
          mean,
          real(1 / cell.token_s),
          real(1e3 * cell.attention_s),
          bytes(cell.kv_bytes, 1024),
          bytes(cell.peak_bytes, 1024 * 1024)};
}

std::vector<Entry> row_of(const TimedCell& cell, std::vector<Entry> numbers) {
  const Spec& spec = cell.cell.spec;
  std::vector<Entry> row = {same(row_name(spec)),
                            spec.bounded() ? same(std::to_string(spec.budget)) : Entry{"all", ""},
                            same(std::to_string(cell.length))};
  row.insert(row.end(), numbers.begin(), numbers.end());
  return row;
}

// Each median with the least and the most in parentheses, unless they are the same.
std::vector<Entry> spread_of(const TimedSummary& summary) {
  std::vector<Entry> numbers = numbers_of(summary.median);
  const std::vector<Entry> least = numbers_of(summary.least);
  const std::vector<Entry> most = numbers_of(summary.most);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::array<std::string, 2> ends = {least[i].text, most[i].text};
    if (i == per_second) std::swap(ends[0], ends[1]);  // less time a token is more tokens
    if (ends[0] != ends[1]) numbers[i].text += " (" + ends[0] + " to " + ends[1] + ")";
  }
  return numbers;
}

std::string json_of(const TimingResult& result, const TimedCell& cell) {
  const Spec& spec = cell.cell.spec;
  return JsonObject()
      .add("type", "timing")
      .add("model", result.model)
      .add("weights", result.weights)
      .add("weight_bytes", std::uint64_t{result.weight_bytes})
      .add("storage", stored_as(spec, result.storage))
      .add("spec", spec.canonical())
      .add("policy", spec.policy->name)
      .add_raw("budget", spec.bounded() ? std::to_string(spec.budget) : "null")
      .add("seed", cell.cell.seed)
      .add("length", std::uint64_t{cell.length})
      .add("repetition", std::uint64_t{cell.repetition})
      .add("tokens", std::uint64_t{result.tokens})
      .add("threads", std::uint64_t{result.threads})
      .add("kernels", cell.kernels)
      .add("processor", cell.processor)
      .add("first_token_s", cell.first_token_s)
      .add("token_s", cell.token_s)
      .add("mean_token_s", cell.mean_token_s)
      .add("tokens_per_s", 1 / cell.token_s)
      .add("attention_s", cell.attention_s)
      .add("kv_bytes", std::uint64_t{cell.kv_bytes})
      .add("peak_bytes", std::uint64_t{cell.peak_bytes})
      .text();
}

}  // namespace

Table timing_table(const TimingResult& result) {
  Table table{.columns = columns(), .rows = {}};
  for (const TimedSummary& summary : timed_summaries(result)) {
    table.rows.push_back(row_of(summary.median, spread_of(summary)));
  }
  return table;
}

Table timing_rows(const TimingResult& result) {
  Table table{.columns = columns(), .rows = {}};
  table.columns.push_back({.title = "run", .name = "repetition", .number = true});
  for (const TimedCell& cell : result.cells) {
    table.rows.push_back(row_of(cell, numbers_of(cell)));
    table.rows.back().push_back(same(std::to_string(cell.repetition)));
  }
  return table;
}

std::string timing_json(const TimingResult& result) {
  std::string lines;
  for (const TimedCell& cell : result.cells) lines += json_of(result, cell) + "\n";
  return lines;
}

std::string timing_line(const TimingResult& result) {
  std::string threads;
  if (result.threads > 0) {
    threads =
        " on " + std::to_string(result.threads) + (result.threads == 1 ? " thread" : " threads");
  }
  const std::size_t runs = timed_runs(result);
  const std::string machines = machines_text(result);
  return result.model + ": " + std::to_string(result.weight_bytes) +
         " bytes of weights; medians of " + std::to_string(result.tokens) +
         (result.tokens == 1 ? " token" : " tokens") + threads +
         (runs < 2 ? "" : ", and of " + std::to_string(runs) + " runs (least to most)") +
         (machines.empty() ? "" : "; " + machines);
}

}  // namespace kv::reports
