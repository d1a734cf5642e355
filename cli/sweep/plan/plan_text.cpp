#include "kvcheck/cli/sweep/plan/plan_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/json_line.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/json_value.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_chunk = most_tokens;
constexpr std::int64_t most_top_k = 65536;
constexpr std::int64_t most_seeds = 4096;
constexpr std::int64_t most_timed = 1000000;
constexpr std::int64_t most_runs = 10000;
constexpr std::int64_t most_threads = 1024;

using reports::SweepKind;

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

// Different numbers of tokens.
std::vector<std::uint32_t> sizes_at(const JsonAt& list, std::string_view what, std::int64_t least) {
  std::vector<std::uint32_t> sizes;
  std::set<std::uint32_t> known;
  const std::size_t count = entries(list, what);
  for (std::size_t i = 0; i < count; ++i) {
    sizes.push_back(
        static_cast<std::uint32_t>(list[i].integer("a number of tokens", least, most_tokens)));
    check_new(list[i], sizes.back(), known);
  }
  return sizes;
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

std::string text_at(const JsonAt& object,
                    std::string_view name,
                    const std::string& otherwise = "") {
  const auto field = object.find(name);
  return field ? field->text("a text") : otherwise;
}

Detail detail_at(const JsonAt& plan, SweepKind kind) {
  const auto field = plan.find("detail");
  if (!field) return Detail::summary;
  const std::string word = field->text("a word");
  const auto* const found = std::ranges::find(detail_words, word);
  if (found == detail_words.end()) {
    if (field->is_string()) field->complain(unknown_word("detail", word, detail_words));
    return Detail::summary;
  }
  const auto detail = static_cast<Detail>(found - detail_words.begin());
  if (kind == SweepKind::eval && detail == Detail::heads) {
    field->complain("evaluations have no numbers of heads; expected \"summary\" or \"series\"");
  }
  if (kind == SweepKind::tasks && detail != Detail::summary) {
    field->complain("every answer is kept anyway; expected \"summary\"");
  }
  if (kind == SweepKind::speed && detail != Detail::summary) {
    field->complain("timings have no numbers of heads; expected \"summary\"");
  }
  return detail;
}

// The fields that all kinds have, but the sources.
void read_cells(const JsonAt& section, PlanText& text) {
  const JsonAt policies = section.need("policies");
  if (policies.is_string() && policies.text("a text") == "all") {
    text.policies = {"all"};
  } else {
    text.policies = words_at(policies, "policies, or \"all\"");
  }
  if (const auto list = section.find("budgets")) text.budgets = sizes_at(*list, "budgets", 1);
  if (const auto seeds = section.find("seeds")) text.seeds = seeds_at(*seeds);
  text.chunk = static_cast<std::uint32_t>(count_at(section, "chunk", 1, most_chunk, 0));
}

void read_marks(const JsonAt& section, PlanText& text) {
  text.marks.prompt = count_at(section, "prompt", 1, most_tokens, 0);
  text.marks.question = count_at(section, "question", 0, most_tokens, 0);
  if (text.marks.question > 0 && text.marks.prompt == 0) {
    section.complain("\"question\" is given without \"prompt\", which it follows; expected both");
  }
}

void read_replay(const JsonAt& section, PlanText& text) {
  section.only_ever({"traces", "policies", "budgets", "seeds", "chunk", "prompt", "question",
                     "kv-heads", "top-k", "oracle", "oracle-tokens", "strict"});
  text.sources = words_at(section.need("traces"), "traces");
  read_cells(section, text);
  read_marks(section, text);
  text.kv_heads = count_at(section, "kv-heads", 1, most_tokens, 0);
  text.top_k = count_at(section, "top-k", 0, most_top_k, text.top_k);
  text.oracle = switch_at(section, "oracle");
  text.oracle_tokens = count_at(section, "oracle-tokens", 1, most_top_k, text.oracle_tokens);
  text.strict = switch_at(section, "strict");
}

void read_model(const JsonAt& section, PlannedModel& model) {
  const JsonAt path = section.need("model");
  model.path = path.text("a text");
  if (path.is_string() && model.path.empty()) path.complain("the text is empty");
  model.weights = text_at(section, "weights", model.weights);
  model.tokenizer = text_at(section, "tokenizer");
  model.no_begin = switch_at(section, "no-begin");
  model.storage = text_at(section, "storage", model.storage);
  model.keys = text_at(section, "keys", model.keys);
}

void read_eval(const JsonAt& section, PlanText& text) {
  section.only_ever({"model",   "weights",  "tokenizer", "ids",     "no-begin", "storage",
                     "keys",    "texts",    "policies",  "budgets", "seeds",    "chunk",
                     "prompt",  "question", "tokens",    "split",   "each",     "mark",
                     "windows", "segment",  "open-loop"});
  read_model(section, text.model);
  text.model.ids = switch_at(section, "ids");
  text.sources = words_at(section.need("texts"), "texts");
  read_cells(section, text);
  read_marks(section, text);
  PlannedCuts& cuts = text.cuts;
  cuts.tokens = count_at(section, "tokens", 2, most_tokens, 0);
  cuts.split = text_at(section, "split");
  cuts.each = switch_at(section, "each");
  cuts.mark = switch_at(section, "mark");
  if (const auto list = section.find("windows")) cuts.windows = sizes_at(*list, "windows", 0);
  cuts.segment = count_at(section, "segment", 1, most_tokens, cuts.segment);
  cuts.open_loop = switch_at(section, "open-loop");
}

void read_tasks(const JsonAt& section, PlanText& text) {
  section.only_ever({"model", "weights", "tokenizer", "no-begin", "storage", "keys", "files",
                     "policies", "budgets", "seeds", "chunk", "answer-tokens", "beyond-context"});
  read_model(section, text.model);
  text.sources = words_at(section.need("files"), "files");
  read_cells(section, text);
  text.answer_tokens = count_at(section, "answer-tokens", 1, 1U << 20U, 0);
  text.beyond_context = switch_at(section, "beyond-context");
}

void read_speed(const JsonAt& section, PlanText& text) {
  section.only_ever({"model", "weights", "storage", "keys", "lengths", "tokens", "runs", "threads",
                     "policies", "budgets", "seeds", "chunk"});
  read_model(section, text.model);
  text.times.lengths = sizes_at(section.need("lengths"), "lengths", 1);
  read_cells(section, text);
  text.times.tokens = count_at(section, "tokens", 1, most_timed, text.times.tokens);
  text.times.runs = count_at(section, "runs", 1, most_runs, text.times.runs);
  text.times.threads = count_at(section, "threads", 1, most_threads, text.times.threads);
}

PlanText plan_at(const JsonAt& plan) {
  PlanText text;
  plan.only_ever({"replay", "eval", "tasks", "speed", "detail"});
  std::optional<SweepKind> kind;
  for (const SweepKind each :
       {SweepKind::replay, SweepKind::eval, SweepKind::tasks, SweepKind::speed}) {
    if (!plan.find(reports::name_of(each))) continue;
    if (kind) {
      plan.complain("expected one of \"replay\", \"eval\", \"tasks\" and \"speed\", found two");
    }
    kind = each;
  }
  if (!kind) {
    if (plan.is_object()) {
      plan.complain("expected \"replay\", \"eval\", \"tasks\" or \"speed\", found none");
    }
    return text;
  }
  text.kind = *kind;
  const JsonAt section = plan.need(reports::name_of(*kind));
  if (!section.is_object()) {
    section.expected("an object");
    return text;
  }
  if (*kind == SweepKind::replay) read_replay(section, text);
  if (*kind == SweepKind::eval) read_eval(section, text);
  if (*kind == SweepKind::tasks) read_tasks(section, text);
  if (*kind == SweepKind::speed) read_speed(section, text);
  text.detail = detail_at(plan, *kind);
  return text;
}

}  // namespace

Result<PlanText> parse_plan(std::string_view json, const std::string& name) {
  const auto value = json_value(json, name, "a plan");
  if (!value) return value.error();
  Complaints complaints;
  PlanText plan = plan_at(JsonAt(*value, "plan", complaints));
  if (!complaints.lines.empty()) {
    return with_line(malformed("'" + name + "': " + printable_line(complaints.lines.front())), json,
                     name);
  }
  return plan;
}

}  // namespace kv::cli
