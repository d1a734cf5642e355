#include <algorithm>
#include <array>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/setting_names.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_sizes.h"
#include "kvcheck/sim/spec/spec_text.h"

namespace kv {
namespace {

template <typename Enum, std::size_t n>
Result<void> set_word(const std::array<std::string_view, n>& words,
                      std::string_view what,
                      std::string_view value,
                      Enum& into) {
  const auto found = std::find(words.begin(), words.end(), value);
  if (found == words.end()) return usage_error(unknown_word(what, value, words));
  into = static_cast<Enum>(found - words.begin());
  return {};
}

Result<void> set_timing(std::string_view value, Spec& spec) {
  constexpr std::string_view lazy = "lazy:";
  constexpr std::array<std::string_view, 3> words = {timing_words[0], timing_words[1], "lazy:N"};
  if (value == "lazy") {
    return usage_error("timing=lazy does not say its slack in tokens; expected it as in lazy:64");
  }
  if (value.starts_with(lazy)) {
    const auto slack =
        parse_count(value.substr(lazy.size()), "the slack of timing=lazy", 0, largest_size);
    if (!slack) return slack.error();
    spec.slack = static_cast<std::uint32_t>(*slack);
    spec.timing = Timing::lazy;
    return {};
  }
  if (std::find(words.begin(), words.end() - 1, value) == words.end() - 1) {
    return usage_error(unknown_word("timing", value, words));
  }
  return set_word(timing_words, "timing", value, spec.timing);
}

// ATTENDED, ATTENDED/PAGE or ATTENDED/PAGE/DENSE.
Result<void> set_top_pages(std::string_view value, Spec& spec) {
  const auto parts = split(value, '/');
  if (parts.size() > 3) {
    return usage_error("visibility=top-pages:" + one_line(value) + " has " +
                       std::to_string(parts.size()) +
                       " numbers; expected ATTENDED/PAGE/DENSE, as in top-pages:1024/16/2");
  }

  struct PagesField {
    std::string_view name;
    std::uint64_t least;
    std::uint32_t* into;
  };

  TopPages read;
  const std::array<PagesField, 3> numbers = {
      {{"the attended tokens of visibility=top-pages", 1, &read.attended},
       {"the page of visibility=top-pages", 1, &read.page},
       {"the dense layers of visibility=top-pages", 0, &read.dense_layers}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_count(parts[i], numbers[i].name, numbers[i].least, largest_size);
    if (!number) return number.error();
    *numbers[i].into = static_cast<std::uint32_t>(*number);
  }
  spec.top_pages = read;
  spec.visibility = Visibility::top_pages;
  return {};
}

Result<void> set_visibility(std::string_view value, Spec& spec) {
  constexpr std::string_view top_pages = "top-pages:";
  constexpr std::array<std::string_view, 3> words = {visibility_words[0], visibility_words[1],
                                                     "top-pages:ATTENDED"};
  if (value == visibility_words[2]) {
    return usage_error(
        "visibility=top-pages does not say how many tokens a query attends to; expected it as in "
        "top-pages:1024");
  }
  if (value.starts_with(top_pages)) return set_top_pages(value.substr(top_pages.size()), spec);
  if (std::find(words.begin(), words.end() - 1, value) == words.end() - 1) {
    return usage_error(unknown_word("visibility", value, words));
  }
  return set_word(visibility_words, "visibility", value, spec.visibility);
}

Result<void> set_chunk(std::string_view value, Spec& spec) {
  const auto chunk = parse_count(value, "chunk", 1, largest_size);
  if (!chunk) return chunk.error();
  spec.chunk = static_cast<std::uint32_t>(*chunk);
  return {};
}

Result<void> set_setting(std::string_view name, std::string_view value, Spec& spec) {
  if (name == "timing") return set_timing(value, spec);
  if (name == "visibility") return set_visibility(value, spec);
  if (name == "positions") return set_word(positions_words, name, value, spec.positions);
  if (name == "unit") return set_word(unit_words, name, value, spec.unit);
  if (name == "budgets") {
    auto budgets = parse_budgets(value);
    if (!budgets) return budgets.error();
    spec.budgets = *std::move(budgets);
    return {};
  }
  if (name == "compress") {
    const std::uint32_t ratio = spec.phases.ratio;
    const bool follows = spec.phases.recent_follows;
    auto phases = parse_phases(value);
    if (!phases) return phases.error();
    spec.phases = *phases;
    spec.phases.ratio = ratio;  // a field, read before the settings
    spec.phases.recent_follows = follows;
    return {};
  }
  if (name == "vectors") return set_word(vectors_words, name, value, spec.vectors);
  if (name == "storage") {
    const auto format = parse_kv_format(value, "storage");
    if (!format) return format.error();
    spec.storage = *format;
    return {};
  }
  return set_chunk(value, spec);
}

Result<void> set_options(const SpecText& text, Spec& spec) {
  spec.options = Options(text.policy->parameters);
  for (const Parameter& parameter : text.policy->parameters) {
    const SpecText::Value* value = text.field(parameter.name);
    if (value == nullptr) continue;
    const Result<std::string> legal = legal_value(parameter, value->text);
    if (!legal) return legal.error();
    spec.options.set(parameter.name, *legal);
  }
  return {};
}

Result<void> check_window(const Spec& spec) {
  const bool windows = spec.visibility == Visibility::window && spec.bounded();
  if (!windows || spec.recent > 0) return {};
  return usage_error(
      "visibility=window needs recent >= 1, so that a query may see its own key; found recent=0");
}

// Pages are selected from everything that was ever stored, by keys that never change. So nothing
// may be evicted, and stored keys may not move.
Result<void> check_top_pages(const Spec& spec) {
  if (!spec.selects()) return {};
  const std::string what = "visibility=" + spec.visibility_text();
  const TopPages& sizes = spec.top_pages;
  if (sizes.attended % sizes.page != 0) {
    return usage_error(what + " attends to whole pages; expected a multiple of " +
                       std::to_string(sizes.page) + " tokens, found " +
                       std::to_string(sizes.attended));
  }
  if (spec.policy->name != "dense") {
    return usage_error(
        what + " selects among all tokens and evicts none; expected the policy dense, found " +
        std::string(spec.policy->name));
  }
  if (spec.positions != Positions::absolute) {
    return usage_error(what +
                       " ranks pages by keys at their positions in the stream; expected "
                       "positions=absolute, found positions=" +
                       std::string(name_of(spec.positions)));
  }
  if (spec.unit == Unit::model) {
    return usage_error(what +
                       " treats layers differently and each query head by itself; expected "
                       "unit=kv-head, head or layer, found unit=model");
  }
  return {};
}

// The residents are fed again as one text. So they must be the same everywhere, and their positions
// must be their ranks.
Result<void> check_vectors(const Spec& spec) {
  if (spec.vectors == Vectors::kept || !spec.bounded()) return {};
  if (!are_ranks(spec.positions)) {
    return usage_error(
        "vectors=re-evaluated feeds the residents again, at their ranks; expected "
        "positions=in-cache, found positions=absolute");
  }
  const bool same = spec.policy->protection.middle == Protection::Middle::none;
  if (!same && spec.unit != Unit::model) {
    return usage_error("vectors=re-evaluated feeds the residents again as one text, and those of " +
                       std::string(spec.policy->name) + " may differ from " +
                       std::string(name_of(spec.unit)) + " to " + std::string(name_of(spec.unit)) +
                       "; expected unit=model");
  }
  if (spec.visibility == Visibility::window && spec.chunk > 1) {
    return usage_error(
        "vectors=re-evaluated with visibility=window evicts inside a chunk, whose vectors do not "
        "exist yet; expected visibility=causal or chunk=1, found chunk=" +
        std::to_string(spec.chunk));
  }
  return {};
}

Result<Spec> parse(std::string_view words, const SpecDefaults& defaults) {
  const auto read = read_spec_text(words);
  if (!read) return read.error();
  const SpecText& text = read.value();
  Spec spec;
  spec.policy = text.policy;
  if (auto done = set_options(text, spec); !done) return done.error();
  if (auto done = set_sizes(text, defaults, spec); !done) return done.error();
  for (const auto& [name, value] : text.settings) {
    if (auto done = set_setting(name, value.text, spec); !done) return done.error();
  }
  if (auto done = set_chunk_beside(text, defaults, spec); !done) return done.error();
  // Checks come last, because they compare settings with sizes and with each other.
  if (auto done = check_window(spec); !done) return done.error();
  if (auto done = check_top_pages(spec); !done) return done.error();
  if (auto done = check_budgets(spec); !done) return done.error();
  if (auto done = check_vectors(spec); !done) return done.error();
  if (auto done = check_phases(spec); !done) return done.error();
  if (!spec.storage) return spec;
  if (auto done = check_format(spec, *spec.storage); !done) return done.error();
  return spec;
}

}  // namespace

Result<Spec> parse_spec(std::string_view words, const SpecDefaults& defaults) {
  auto spec = parse(words, defaults);
  if (spec) return spec;
  return usage_error("in spec '" + one_line(words) + "': " + spec.error().message);
}

bool gives_part_of(std::string_view words, const Spec& spec) {
  const auto given = read_spec_text(words);
  if (!given || given->policy != spec.policy) return false;
  // The spec with what is given in place of its own is the same spec.
  auto whole = read_spec_text(spec.canonical());
  KV_CHECK(whole.has_value());
  std::string changed(spec.policy->name);
  char before = ':';
  const auto add = [&](SpecText::Values& values, const SpecText::Values& given_values, char next) {
    for (const auto& [name, value] : given_values) values.insert_or_assign(name, value);
    for (const auto& [name, value] : values) {
      changed += before + name + "=" + value.text;
      before = next;
    }
  };
  add(whole->fields, given->fields, ',');
  before = ';';
  add(whole->settings, given->settings, ';');
  const auto same = parse(changed, {});
  return same && *same == spec;
}

bool leaves_budget_open(std::string_view words) {
  const auto text = read_spec_text(words);
  KV_CHECK(text.has_value());
  return leaves_budget_open(*text);
}

}  // namespace kv
