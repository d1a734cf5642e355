#include <cmath>
#include <limits>
#include <string>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/trace/trace_options.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {
namespace {

bool try_count(std::string_view text) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Result<std::uint64_t> count = parse_count(text, "a count", 0, most);
  if (!count) return refused(count.error());
  KV_CHECK(*parse_count(std::to_string(*count), "a count", *count, *count) == *count);
  if (*count < most) KV_CHECK(!parse_count(text, "a count", *count + 1, most));
  return true;
}

bool try_real(std::string_view text) {
  constexpr double most = std::numeric_limits<double>::max();
  const Result<double> real = parse_real(text, "a number", -most, most);
  if (!real) return refused(real.error());
  KV_CHECK(std::isfinite(*real));
  KV_CHECK(*parse_real(shortest(*real), "a number", -most, most) == *real);
  return true;
}

bool try_list(std::string_view text) {
  const Result<std::vector<std::size_t>> list = cli::parse_numbers(text, "layer");
  if (!list) return refused(list.error());
  const Result<std::vector<std::size_t>> again =
      cli::parse_numbers(cli::numbers_text(*list), "layer");
  KV_CHECK(again.has_value() && *again == *list);
  for (std::size_t i = 1; i < list->size(); ++i) KV_CHECK((*list)[i - 1] < (*list)[i]);
  return true;
}

}  // namespace

bool numbers(Input input) {
  const std::string_view text = text_of(input);
  const bool count = try_count(text);
  const bool real = try_real(text);
  const bool list = try_list(text);
  return count || real || list;
}

}  // namespace kv::fuzz
