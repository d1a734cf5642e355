#include "kvcheck/cli/policies/spec_answers.h"

#include <array>
#include <utility>

#include "kvcheck/cli/options/wrap.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

// The number of tokens that are evicted together: one, or as many as an option of the policy says.
std::string granularity_of(const Spec& spec) {
  for (const Parameter& parameter : spec.policy->parameters) {
    for (const char* name : {"page", "block", "length"}) {
      if (parameter.name == name) return spec.options.at(name) + " tokens together";
    }
  }
  return "tokens one by one";
}

// The policy with those of its options that differ from their defaults.
std::string evicted_text(const Spec& spec) {
  std::string out(spec.policy->name);
  for (const Parameter& parameter : spec.policy->parameters) {
    const std::string& value = spec.options.at(parameter.name);
    if (value != parameter.default_value) out += ", " + std::string(parameter.name) + "=" + value;
  }
  return out;
}

std::string storage_answer(const Spec& spec, std::string_view published) {
  const std::string fresh = "of a fresh pass over the residents after every trim, as ";
  const std::string named = spec.storage
                                ? spec.storage->text() + " in a model; a replay refuses it"
                                : "the model's: --storage and --keys of eval, generate and speed";
  const std::string any = (spec.vectors == Vectors::re_evaluated ? fresh : "") + named;
  return published.empty() ? any : any + "; published with --storage " + std::string(published);
}

std::string budget_of(const Spec& spec) {
  if (!spec.bounded()) return "none";
  if (spec.budget == 0) return spec.budget_text() + ", for each " + std::string(name_of(spec.unit));
  const std::string tokens =
      std::to_string(spec.budget) + " tokens for each " + std::string(name_of(spec.unit));
  const bool mean = spec.budgets.law == Budgets::Law::adaptive;
  return tokens + (mean ? " on average, " : ", ") + spec.budgets.text();
}

std::string visibility_of(const Spec& spec) {
  if (!spec.selects()) return std::string(name_of(spec.visibility));
  const TopPages& sizes = spec.top_pages;
  return spec.visibility_text() + ": each query head attends to " + std::to_string(sizes.pages()) +
         " pages of " + std::to_string(sizes.page) + " tokens; the first " +
         std::to_string(sizes.dense_layers) + " layers to everything";
}

}  // namespace

std::string answers_text(const Spec& spec, std::string_view published) {
  const std::string timing(name_of(spec.timing));
  const std::array<std::pair<std::string, std::string>, 8> answers = {{
      {"evicted", evicted_text(spec)},
      {"protected", spec.bounded() ? std::to_string(spec.sinks) + " sinks, " +
                                         std::to_string(spec.recent) + " recent tokens"
                                   : "everything"},
      {"budget", budget_of(spec)},
      {"timing", spec.timing == Timing::lazy ? timing + ":" + std::to_string(spec.slack) : timing},
      {"visibility", visibility_of(spec)},
      {"positions", std::string(name_of(spec.positions))},
      {"granularity", granularity_of(spec)},
      {"storage", storage_answer(spec, published)},
  }};
  std::string out;
  for (const auto& [question, answer] : answers) {
    out += definition(&question == &answers[0].first ? "answers" : "", question + ": " + answer);
  }
  return out;
}

}  // namespace kv::cli
