#include "kvcheck/sim/spec/spec_sizes.h"

#include <optional>
#include <string>

#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

using Size = std::optional<std::uint64_t>;

// In 64 bits, so that the sum of two sizes cannot overflow.
struct Given {
  Size sinks, recent, budget;
};

Result<Size> read_size(const SpecText& text, std::string_view name, std::uint64_t minimum) {
  const SpecText::Value* value = text.field(name);
  if (value == nullptr) return Size{};
  const auto size = parse_count(value->text, name, minimum, largest_size);
  if (!size) return size.error();
  return Size{*size};
}

Result<Given> read_sizes(const SpecText& text) {
  const auto sinks = read_size(text, "sinks", 0);
  if (!sinks) return sinks.error();
  const auto recent = read_size(text, "recent", 0);
  if (!recent) return recent.error();
  const auto budget = read_size(text, "budget", 1);
  if (!budget) return budget.error();
  return Given{*sinks, *recent, *budget};
}

std::string protected_tokens(std::uint64_t sinks, std::uint64_t recent) {
  std::string sinks_text = std::to_string(sinks) + " sinks";
  const std::string recent_text = std::to_string(recent) + " recent";
  if (recent == 0) return sinks_text;
  return sinks == 0 ? recent_text : sinks_text + " + " + recent_text;
}

// The error if the value beside the spec contradicts the field `name` (or a size that follows from
// it).
Error contradiction(const SpecText& text,
                    std::string_view name,
                    const std::string& fixes,
                    const std::string& option,
                    std::uint32_t beside) {
  const bool setting = name == "chunk";
  const auto& values = setting ? text.settings : text.fields;
  const auto found = values.find(name);
  const std::string field(name);
  std::string out = "the spec fixes " + fixes + ", but " + option + " asks for " +
                    std::to_string(beside) + "; leave out ";
  if (found != values.end() && found->second.from_preset) {
    return usage_error(out + option + ", or override the preset as in '@" + text.preset +
                       (setting ? ";chunk=" : ":budget=") + std::to_string(beside) + "'");
  }
  return usage_error(out + "'" + field + "' in the spec, or " + option);
}

// The budget that the spec's own text fixes, if any. Without a middle, `recent` fixes it too.
Result<Size> fixed_budget(const SpecText& text, const Given& given, std::uint64_t sinks) {
  const bool has_middle = text.policy->protection.middle == Protection::Middle::some;
  if (has_middle || !given.recent) return given.budget;
  const std::uint64_t sum = sinks + *given.recent;
  if (given.budget && *given.budget != sum) {
    return usage_error("budget " + std::to_string(*given.budget) + " is not the " +
                       std::to_string(sum) + " tokens that " + std::string(text.policy->name) +
                       " keeps (" + protected_tokens(sinks, *given.recent) +
                       "); leave out 'budget' or 'recent'");
  }
  return Size{sum};
}

Result<std::uint64_t> select_budget(const SpecText& text,
                                    const Given& given,
                                    std::uint64_t sinks,
                                    std::uint32_t beside) {
  const auto fixed = fixed_budget(text, given, sinks);
  if (!fixed) return fixed.error();
  if (*fixed && beside != 0 && **fixed != beside) {
    return contradiction(text, given.budget ? "budget" : "recent",
                         "the budget at " + std::to_string(**fixed), "--budget", beside);
  }
  const std::uint64_t budget = fixed->value_or(beside != 0 ? beside : default_budget);
  if (budget >= 1 && budget <= largest_size) return budget;
  return usage_error("the budget is " + std::to_string(budget) +
                     "; expected a whole number from 1 to " + std::to_string(largest_size));
}

// A budget that is a share of a prompt. The recent window follows it unless it is given.
Result<void> set_ratio(const SpecText& text,
                       const SpecDefaults& defaults,
                       const Given& given,
                       std::uint64_t sinks,
                       Spec& spec) {
  const auto ratio = parse_ratio(text.field("ratio")->text);
  if (!ratio) return ratio.error();
  const std::string fixes = "ratio=" + ratio_text(*ratio);
  if (given.budget) {
    return usage_error("budget and " + fixes + " are both given; leave out one");
  }
  if (defaults.budget != 0) {
    return usage_error("the spec fixes the budget at " + fixes +
                       " of a prompt, but --budget asks "
                       "for " +
                       std::to_string(defaults.budget) + "; leave out one");
  }
  const bool has_middle = text.policy->protection.middle == Protection::Middle::some;
  if (given.recent && !has_middle) {
    return usage_error("recent and " + fixes + " are both given, and the recent window of " +
                       std::string(text.policy->name) +
                       " is what the sinks leave of it; leave out "
                       "one");
  }
  spec.sinks = static_cast<std::uint32_t>(sinks);
  spec.recent = static_cast<std::uint32_t>(given.recent.value_or(0));
  spec.phases.ratio = *ratio;
  spec.phases.recent_follows = !given.recent;
  return {};
}

}  // namespace

std::uint32_t default_recent(const PolicyEntry& policy, std::uint32_t sinks, std::uint32_t budget) {
  const std::uint64_t rest = budget - sinks;
  return static_cast<std::uint32_t>(rest * policy.protection.recent_percent / 100);
}

bool leaves_budget_open(const SpecText& text) {
  const Protection& protection = text.policy->protection;
  if (protection.middle == Protection::Middle::unbounded) return false;
  if (text.field("ratio") != nullptr) return false;
  const bool recent_says = protection.middle == Protection::Middle::none;
  return text.field("budget") == nullptr && !(recent_says && text.field("recent") != nullptr);
}

Result<void> set_sizes(const SpecText& text, const SpecDefaults& defaults, Spec& spec) {
  const Protection& protection = text.policy->protection;
  if (protection.middle == Protection::Middle::unbounded) return {};
  const auto read = read_sizes(text);
  if (!read) return read.error();
  const Given& given = read.value();

  const std::uint64_t sinks = given.sinks.value_or(protection.takes_sinks ? protection.sinks : 0);
  if (text.field("ratio") != nullptr) return set_ratio(text, defaults, given, sinks, spec);
  const auto budget = select_budget(text, given, sinks, defaults.budget);
  if (!budget) return budget.error();
  // The default of recent depends on the budget and always fits, so only a given one is counted.
  const std::uint64_t protected_count = sinks + given.recent.value_or(0);
  if (protected_count > *budget) {
    const bool by_default = !given.budget && defaults.budget == 0;
    return usage_error("budget " + std::to_string(*budget) + (by_default ? " (the default)" : "") +
                       " is below the " + std::to_string(protected_count) + " protected tokens (" +
                       protected_tokens(sinks, given.recent.value_or(0)) + ")");
  }
  spec.sinks = static_cast<std::uint32_t>(sinks);
  spec.budget = static_cast<std::uint32_t>(*budget);
  spec.recent = given.recent ? static_cast<std::uint32_t>(*given.recent)
                             : default_recent(*text.policy, spec.sinks, spec.budget);
  return {};
}

Result<void> set_chunk_beside(const SpecText& text, const SpecDefaults& defaults, Spec& spec) {
  if (defaults.chunk == 0) return {};
  if (text.settings.contains("chunk")) {
    if (spec.chunk == defaults.chunk) return {};
    return contradiction(text, "chunk", "the chunk at " + std::to_string(spec.chunk), "--chunk",
                         defaults.chunk);
  }
  if (defaults.chunk > largest_size) {
    return usage_error("the chunk is " + std::to_string(defaults.chunk) +
                       "; expected a whole number from 1 to " + std::to_string(largest_size));
  }
  spec.chunk = defaults.chunk;
  return {};
}

}  // namespace kv
