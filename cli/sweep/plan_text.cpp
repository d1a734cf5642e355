#include "kvcheck/cli/sweep/plan_text.h"

#include <algorithm>
#include <array>
#include <boost/json/stream_parser.hpp>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_top_k = 65536;
constexpr std::int64_t most_seeds = 4096;

constexpr std::array<std::string_view, 3> detail_words = {"summary", "heads", "series"};

// Whether the list is there, is one, and is not empty where that would leave nothing to do.
std::size_t entries(const JsonAt& list, std::string_view what) {
  const std::size_t count = list.size("a list of " + std::string(what));
  if (count == 0 && list.is_array()) list.complain("the list is empty");
  return count;
}

std::vector<std::string> words_at(const JsonAt& list, std::string_view what) {
  std::vector<std::string> words;
  std::set<std::string> known;
  const std::size_t count = entries(list, what);
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(list[i].text("a text"));
    if (list[i].is_string() && words.back().empty()) list[i].complain("the text is empty");
    if (known.insert(words.back()).second || !list[i].is_string()) continue;
    list[i].complain("'" + printable_line(words.back()) + "' is given twice");
  }
  return words;
}

template <typename Number>
void check_new(const JsonAt& at, Number number, std::set<Number>& known) {
  if (!known.insert(number).second) at.complain(std::to_string(number) + " is given twice");
}

std::vector<std::uint32_t> budgets_at(const JsonAt& list) {
  std::vector<std::uint32_t> budgets;
  std::set<std::uint32_t> known;
  const std::size_t count = entries(list, "budgets");
  for (std::size_t i = 0; i < count; ++i) {
    budgets.push_back(
        static_cast<std::uint32_t>(list[i].integer("a number of tokens", 1, most_tokens)));
    check_new(list[i], budgets.back(), known);
  }
  return budgets;
}

// A list of seeds, or a number N for the seeds 1 to N.
std::vector<std::uint64_t> seeds_at(const JsonAt& at) {
  std::vector<std::uint64_t> seeds;
  if (at.is_array()) {
    std::set<std::uint64_t> known;
    const std::size_t count = entries(at, "seeds");
    for (std::size_t i = 0; i < count; ++i) {
      seeds.push_back(at[i].unsigned64("a seed"));
      check_new(at[i], seeds.back(), known);
    }
    return seeds;
  }
  const auto count =
      static_cast<std::uint64_t>(at.integer("a number of seeds, or a list of them", 1, most_seeds));
  for (std::uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  return seeds;
}

std::size_t count_at(const JsonAt& object,
                     std::string_view name,
                     std::int64_t least,
                     std::int64_t most,
                     std::size_t otherwise) {
  const auto field = object.find(name);
  if (!field) return otherwise;
  return static_cast<std::size_t>(field->integer("a count", least, most));
}

bool switch_at(const JsonAt& object, std::string_view name) {
  const auto field = object.find(name);
  return field && field->boolean("true or false");
}

Detail detail_at(const JsonAt& plan) {
  const auto field = plan.find("detail");
  if (!field) return Detail::summary;
  const std::string word = field->text("a word");
  const auto* const found = std::ranges::find(detail_words, word);
  if (found != detail_words.end()) return static_cast<Detail>(found - detail_words.begin());
  if (field->is_string()) field->complain(unknown_word("detail", word, detail_words));
  return Detail::summary;
}

PlanText plan_at(const JsonAt& plan) {
  PlanText text;
  plan.only_ever({"replay", "detail"});
  const JsonAt replay = plan.need("replay");
  if (!replay.is_object()) return text;
  replay.only_ever({"traces", "policies", "budgets", "seeds", "chunk", "prompt", "question",
                    "kv-heads", "top-k", "oracle", "oracle-tokens", "strict"});
  text.traces = words_at(replay.need("traces"), "traces");
  text.policies = words_at(replay.need("policies"), "policies");
  if (const auto budgets = replay.find("budgets")) text.budgets = budgets_at(*budgets);
  if (const auto seeds = replay.find("seeds")) text.seeds = seeds_at(*seeds);
  text.chunk = static_cast<std::uint32_t>(count_at(replay, "chunk", 1, most_tokens, 0));
  text.marks.prompt = count_at(replay, "prompt", 1, most_tokens, 0);
  text.marks.question = count_at(replay, "question", 0, most_tokens, 0);
  if (text.marks.question > 0 && text.marks.prompt == 0) {
    replay.complain("\"question\" is given without \"prompt\", which it follows; expected both");
  }
  text.kv_heads = count_at(replay, "kv-heads", 1, most_tokens, 0);
  text.top_k = count_at(replay, "top-k", 1, most_top_k, text.top_k);
  text.oracle = switch_at(replay, "oracle");
  text.oracle_tokens = count_at(replay, "oracle-tokens", 1, most_top_k, text.oracle_tokens);
  text.strict = switch_at(replay, "strict");
  text.detail = detail_at(plan);
  return text;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

}  // namespace

Result<PlanText> parse_plan(std::string_view json, const std::string& name) {
  const std::string file = "'" + name + "'";
  boost::json::stream_parser parser;
  boost::json::error_code failed;
  const std::size_t used = parser.write_some(json.data(), json.size(), failed);
  if (!failed && used < json.size()) failed = boost::json::error::extra_data;
  if (!failed) parser.finish(failed);
  if (failed) {
    return malformed(file + " is not JSON in line " + std::to_string(line_at(json, used)) + " (" +
                     failed.message() + "); expected a plan");
  }
  const boost::json::value value = parser.release();
  Complaints complaints;
  PlanText plan = plan_at(JsonAt(value, "plan", complaints));
  if (!complaints.lines.empty()) {
    return malformed(file + ": " + printable_line(complaints.lines.front()));
  }
  return plan;
}

std::string plan_json(const PlanText& plan) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  JsonObject replay;
  replay.add_raw("traces", json_list(plan.traces, json_string))
      .add_raw("policies", json_list(plan.policies, json_string));
  if (!plan.budgets.empty()) replay.add_raw("budgets", json_list(plan.budgets, number));
  replay.add_raw("seeds", json_list(plan.seeds, number));
  if (plan.chunk > 0) replay.add("chunk", std::uint64_t{plan.chunk});
  if (plan.marks.known()) {
    replay.add("prompt", std::uint64_t{plan.marks.prompt})
        .add("question", std::uint64_t{plan.marks.question});
  }
  if (plan.kv_heads > 0) replay.add("kv-heads", std::uint64_t{plan.kv_heads});
  replay.add("top-k", std::uint64_t{plan.top_k})
      .add("oracle", plan.oracle)
      .add("oracle-tokens", std::uint64_t{plan.oracle_tokens})
      .add("strict", plan.strict);
  return JsonObject()
      .add_raw("replay", replay.text())
      .add("detail", detail_words[static_cast<std::size_t>(plan.detail)])
      .text();
}

}  // namespace kv::cli
