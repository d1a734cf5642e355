#include "kvcheck/reports/tables/timing_table.h"

#include <array>
#include <cstdio>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
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

std::string json_of(const TimingResult& result, const TimedCell& cell) {
  const Spec& spec = cell.cell.spec;
  return JsonObject()
      .add("type", "timing")
      .add("model", result.model)
      .add("weights", result.weights)
      .add("weight_bytes", std::uint64_t{result.weight_bytes})
      .add("storage", result.storage)
      .add("spec", spec.canonical())
      .add("policy", spec.policy->name)
      .add_raw("budget", spec.bounded() ? std::to_string(spec.budget) : "null")
      .add("seed", cell.cell.seed)
      .add("length", std::uint64_t{cell.length})
      .add("tokens", std::uint64_t{result.tokens})
      .add("threads", std::uint64_t{result.threads})
      .add("first_token_s", cell.first_token_s)
      .add("token_s", cell.token_s)
      .add("tokens_per_s", 1 / cell.token_s)
      .add("attention_s", cell.attention_s)
      .add("kv_bytes", std::uint64_t{cell.kv_bytes})
      .add("peak_bytes", std::uint64_t{cell.peak_bytes})
      .text();
}

}  // namespace

Table timing_table(const TimingResult& result) {
  Table table;
  table.columns = {{.title = "policy", .name = "policy"},
                   {.title = "budget", .name = "budget", .number = true},
                   {.title = "length", .name = "length", .number = true},
                   {.title = "first ms", .name = "first_token_ms", .number = true},
                   {.title = "token ms", .name = "token_ms", .number = true},
                   {.title = "tokens/s", .name = "tokens_per_s", .number = true},
                   {.title = "attention ms", .name = "attention_ms", .number = true},
                   {.title = "KV KiB", .name = "kv_bytes", .number = true},
                   {.title = "peak MiB", .name = "peak_bytes", .number = true}};
  for (const TimedCell& cell : result.cells) {
    const Spec& spec = cell.cell.spec;
    table.rows.push_back(
        {same(spec.label()), spec.bounded() ? same(std::to_string(spec.budget)) : Entry{"all", ""},
         same(std::to_string(cell.length)), real(1e3 * cell.first_token_s),
         real(1e3 * cell.token_s), real(1 / cell.token_s), real(1e3 * cell.attention_s),
         bytes(cell.kv_bytes, 1024), bytes(cell.peak_bytes, 1024 * 1024)});
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
  return result.model + ": " + std::to_string(result.weight_bytes) +
         " bytes of weights; medians of " + std::to_string(result.tokens) + " tokens" + threads;
}

}  // namespace kv::reports
