#include "kvcheck/reports/tables/timing_table.h"

#include <array>
#include <cstdio>

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
  return {formatted(value >= 100 ? "%.0f" : "%.3g", value), formatted("%.9g", value)};
}

Entry bytes(std::size_t count, double unit) {
  return {formatted("%.0f", static_cast<double>(count) / unit), std::to_string(count)};
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
        {same(spec.label()), same(spec.bounded() ? std::to_string(spec.budget) : "all"),
         same(std::to_string(cell.length)), real(1e3 * cell.first_token_s),
         real(1e3 * cell.token_s), real(1 / cell.token_s), real(1e3 * cell.attention_s),
         bytes(cell.kv_bytes, 1024), bytes(cell.peak_bytes, 1024 * 1024)});
  }
  return table;
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
