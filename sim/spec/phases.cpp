#include "kvcheck/sim/spec/phases.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/setting_names.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_sizes.h"

namespace kv {
namespace {

constexpr std::uint32_t whole = 1000;

std::string_view name_of(Phases::Compress compress) {
  return compress_words[static_cast<std::size_t>(compress)];
}

// What follows the '+': grow, hold or every:N.
Result<void> set_then(std::string_view word, Phases& phases) {
  constexpr std::string_view every = "every:";
  constexpr std::array<std::string_view, 3> words = {then_words[0], then_words[1], "every:N"};
  if (word.starts_with(every)) {
    const auto period =
        parse_count(word.substr(every.size()), "the period of compress=...+every", 1, largest_size);
    if (!period) return period.error();
    phases.then = Phases::Then::every;
    phases.period = static_cast<std::uint32_t>(*period);
    return {};
  }
  if (word == "grow" || word == "hold") {
    phases.then = word == "grow" ? Phases::Then::grow : Phases::Then::hold;
    return {};
  }
  if (word == "every") {
    return usage_error(
        "compress=...+every does not state its period in tokens; expected it as in every:64");
  }
  return usage_error(unknown_word("word after the '+' of compress", word, words));
}

// Where the first trim is, or an error.
Result<std::size_t> end_of(const Spec& spec,
                           const Marks& marks,
                           std::size_t tokens,
                           const std::string& stream) {
  const bool question = spec.phases.compress == Phases::Compress::question;
  const std::string what = "'" + spec.label() + "' compresses at the end of the " +
                           std::string(question ? "question" : "prompt");
  if (!marks.known()) {
    return usage_error(what + ", and " + stream +
                       " has no mark there; expected --prompt with a number of tokens");
  }
  const std::size_t end = marks.prompt + (question ? marks.question : 0);
  if (end < tokens) return end;
  return usage_error(what + ", which is after " + std::to_string(end) + " tokens, and " + stream +
                     " has " + std::to_string(tokens) + "; expected tokens after them");
}

}  // namespace

std::string Phases::text() const {
  std::string out(name_of(compress));
  if (!marked()) return out;
  out += "+" + std::string(then_words[static_cast<std::size_t>(then)]);
  if (then == Then::every) out += ":" + std::to_string(period);
  return out;
}

Result<Phases> parse_phases(std::string_view word) {
  const std::size_t plus = word.find('+');
  const std::string_view name = word.substr(0, plus);
  const auto found = std::ranges::find(compress_words, name);
  if (found == compress_words.end()) {
    return usage_error(unknown_word("compress", name, compress_words));
  }
  Phases phases;
  phases.compress = static_cast<Phases::Compress>(found - compress_words.begin());
  if (phases.compress == Phases::Compress::never) phases.first_trim = no_trim;
  if (phases.marked()) phases.then = Phases::Then::grow;
  if (plus == std::string_view::npos) return phases;
  if (!phases.marked()) {
    return usage_error("compress=" + std::string(name) +
                       " has no later phase; expected nothing after it");
  }
  if (auto done = set_then(word.substr(plus + 1), phases); !done) return done.error();
  return phases;
}

// Stored in thousandths, so that the budget is exact for the number as written.
Result<std::uint32_t> parse_ratio(std::string_view word) {
  const auto ratio = parse_real(word, "ratio", 0, 1);
  if (!ratio) return ratio.error();
  const double thousandths = std::round(*ratio * whole);
  if (thousandths >= 1 && std::abs(*ratio * whole - thousandths) < 1e-6) {
    return static_cast<std::uint32_t>(thousandths);
  }
  return usage_error("ratio is " + std::string(word) +
                     "; expected the share of the prompt that is kept, above 0 and with at most "
                     "three decimals, as in ratio=0.25");
}

std::string ratio_text(std::uint32_t thousandths) {
  return shortest(static_cast<double>(thousandths) / whole);
}

Result<void> check_phases(const Spec& spec) {
  const Phases& phases = spec.phases;
  if (phases.ratio > 0 && !phases.marked()) {
    return usage_error("ratio=" + ratio_text(phases.ratio) +
                       " is a share of a prompt; expected compress=prompt or compress=question, "
                       "found compress=" +
                       phases.text());
  }
  if (phases.compress == Phases::Compress::always) return {};
  const std::string what = "compress=" + phases.text();
  if (!spec.bounded()) {
    return usage_error(what + " needs a budget, and " + std::string(spec.policy->name) +
                       " has none: it keeps everything");
  }
  if (spec.visibility != Visibility::causal) {
    return usage_error(what + " stores more than the budget until the first trim, and visibility=" +
                       spec.visibility_text() +
                       " bounds what a query sees; expected visibility=causal");
  }
  if (spec.vectors != Vectors::kept) {
    return usage_error(what +
                       " trims a prompt, and vectors=re-evaluated would read it again; "
                       "expected vectors=kept");
  }
  if (phases.then != Phases::Then::every || spec.timing == Timing::attend_then_trim) return {};
  return usage_error(what + " says when later trims are made, and so does timing=" +
                     std::string(name_of(spec.timing)) + "; leave out one");
}

Result<Spec> resolved(const Spec& spec,
                      const Marks& marks,
                      std::size_t tokens,
                      const std::string& stream) {
  if (!spec.phases.marked()) return spec;
  const auto end = end_of(spec, marks, tokens, stream);
  if (!end) return end.error();
  Spec own = spec;
  own.phases.first_trim = *end;
  if (spec.phases.ratio == 0) return own;
  const std::uint64_t budget = std::uint64_t{*end} * spec.phases.ratio / whole;
  const std::uint64_t recent = spec.phases.recent_follows ? 0 : spec.recent;
  // A budget of no middle still has to hold the query's own key.
  const std::uint64_t least = std::max<std::uint64_t>(spec.sinks + recent, 1);
  if (budget < least) {
    return usage_error("'" + spec.label() + "' keeps " + ratio_text(spec.phases.ratio) + " of " +
                       std::to_string(*end) + " tokens of " + stream + ", which are " +
                       std::to_string(budget) + "; expected at least the " + std::to_string(least) +
                       " that it protects");
  }
  own.budget = static_cast<std::uint32_t>(std::min<std::uint64_t>(budget, largest_size));
  if (spec.phases.recent_follows) {
    own.recent = default_recent(*spec.policy, spec.sinks, own.budget);
  }
  return own;
}

bool is_resolved(const Spec& spec) {
  return !spec.phases.marked() || (spec.phases.first_trim > 0 && spec.budget > 0);
}

Error no_phases(const Spec& spec, std::string_view command) {
  return usage_error("'" + spec.label() + "' has compress=" + spec.phases.text() +
                     ", and kvcheck " + std::string(command) +
                     " streams tokens without a prompt; expected compress=always, as in '" +
                     without_phases(spec).label() + "'");
}

Spec without_phases(const Spec& spec) {
  Spec own = spec;
  own.phases = Phases();
  if (spec.phases.ratio == 0) return own;
  own.budget = std::max(default_budget, spec.sinks + spec.recent);
  if (spec.phases.recent_follows) {
    own.recent = default_recent(*spec.policy, spec.sinks, own.budget);
  }
  return own;
}

std::size_t next_chunk(const Spec& spec, std::size_t seen, std::size_t tokens) {
  std::size_t chunk = std::min<std::size_t>(spec.chunk, tokens - seen);
  const std::uint64_t end = spec.phases.first_trim;
  if (seen < end) chunk = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, end - seen));
  return chunk;
}

}  // namespace kv
