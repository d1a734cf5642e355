#include <algorithm>
#include <utility>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/relations/referee.h"

namespace kv::properties {
namespace {

std::optional<std::string> never(const Contract&) {
  return std::nullopt;
}

std::optional<std::string> unless_named(const Contract& contract) {
  if (contract.reference.empty()) return "the subject names no reference";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  if (contract.visibility == Visibility::top_pages && contract.unit != Unit::head) {
    return "heads choose for themselves, and are not told apart";
  }
  return std::nullopt;
}

// The spec that a contract names, or why it cannot be held against it.
std::variant<Spec, NotTested> named_spec(const Trial& trial, const Contract& contract) {
  const auto spec = parse_spec(contract.reference);
  if (!spec) return NotTested{"reference: " + spec.error().message};
  const auto rule = rule_of(*spec);
  if (!rule) {
    return NotTested{"there is no specification of " + std::string(spec->policy->name), true};
  }
  if ((rule->wants_inputs() || spec->selects()) && !trial.family().in_process()) {
    return NotTested{"the reference looks at more than attention, which no process is shown", true};
  }
  if (!spec->policy->protection.takes_sinks && contract.sinks > 0) {
    return NotTested{"the reference has no sinks and the contract does"};
  }
  if (contract.random && !trial.family().uses_draws()) {
    return NotTested{"the subject leaves its chance to itself", true};
  }
  return *spec;
}

Compared compared(const Contract& contract) {
  return contract.masks_instead ? Compared::visible : Compared::visible_and_stored;
}

Judgement verdict(Referee& referee, History& history) {
  if (auto finding = referee.judge()) {
    finding->history = std::move(history);
    return *std::move(finding);
  }
  if (!referee.compared()) return NotTested{"no call could be compared"};
  return {};
}

Judgement model(Trial& trial, const Contract& contract) {
  auto named = named_spec(trial, contract);
  if (auto* why = std::get_if<NotTested>(&named)) return *why;
  History history = trial.run(trial.what());
  Referee referee(history, std::get<Spec>(named), compared(contract),
                  "the specification of " + contract.reference);
  return verdict(referee, history);
}

Judgement dense(const History& history, const Contract& contract) {
  bool any = false;
  Judgement judgement = each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        const std::size_t tokens = step.event->branch.size();
        const bool selects = contract.selects_in(history.place_of(unit).layer);
        const bool fits =
            selects ? tokens <= contract.top_pages.attended
                    : contract.budget == 0 || (tokens <= contract.budget && !step.was_full);
        if (!step.fed() || !fits) return std::nullopt;
        any = true;
        for (std::size_t query = 0; query < step.event->fed.size(); ++query) {
          const Tokens all = between(step.event->branch, 0, step.event->fed[query].position + 1);
          const Tokens seen = visible_to(facts, query);
          if (seen == all) continue;
          Finding finding =
              finding_at(step, unit, query,
                         query_text(*step.event, query) + " sees all that was fed: " + text_of(all),
                         "it sees " + text_of(seen));
          finding.should_see = all;
          return finding;
        }
        const Tokens all = between(step.event->branch, 0, static_cast<std::int64_t>(tokens));
        const Tokens stored = tokens_of(facts.stored);
        const bool fewer_is_legal = contract.keeps_fewer && tokens == contract.budget;
        if (stored == all || fewer_is_legal) return std::nullopt;
        return finding_at(
            step, unit,
            "all " + std::to_string(tokens) + " tokens fit and are stored: " + text_of(all),
            "stored are " + text_of(stored));
      });
  if (!any) return NotTested{"no call left the branch within its budget"};
  return judgement;
}

// A simpler spec that must do the same, and what the two have in common.
struct Reduction {
  Spec spec;
  Compared compare = Compared::visible_and_stored;
};

Spec with_policy(Spec spec, std::string_view name) {
  spec.policy = find_policy(name);
  spec.options = Options(spec.policy->parameters);
  return spec;
}

// Whether there is nothing to share: each unit is sure of all, or it is alone.
bool shares_nothing(const Spec& spec, const Setup& setup) {
  const std::uint32_t units = spec.unit == Unit::head ? setup.query_heads() : setup.kv_heads;
  return units == 1 || adaptive_floor(spec) == spec.middle();
}

std::optional<Reduction> reduction_of(const Spec& spec, const Setup& setup, bool token_by_token) {
  if (!spec.bounded()) return std::nullopt;
  Reduction reduced{spec};
  if (spec.budgets.shared() && shares_nothing(spec, setup)) reduced.spec.budgets = Budgets();
  if (spec.middle() == 0 && spec.policy->name != "window") {
    if (spec.sinks == 0) {
      reduced.spec = with_policy(reduced.spec, "window");
    } else if (spec.policy->name != "streaming") {
      reduced.spec = with_policy(reduced.spec, "streaming");
    }
  }
  if (spec.timing == Timing::lazy && spec.slack == 0) {
    reduced.spec.timing = Timing::attend_then_trim;
  } else if (spec.timing == Timing::trim_then_attend && spec.visibility == Visibility::causal &&
             spec.recent > 0 && token_by_token) {
    reduced.spec.visibility = Visibility::window;
    reduced.compare = Compared::visible;
  }
  if (reduced.spec == spec) return std::nullopt;
  return reduced;
}

Case only_feeds(const Case& what) {
  Case feeds{what.setup, what.stream, {}};
  for (Call call : what.calls) {
    if (call.kind != Call::Kind::feed) continue;
    call.branch = 0;
    call.variant = 0;
    feeds.calls.push_back(call);
  }
  return feeds;
}

// The setups in which policies become each other: no middle, no sinks, one head, and as it is.
std::vector<Setup> reducing_setups(const Trial& trial) {
  const Setup own = trial.what().setup;
  if (!trial.family().takes_sizes()) return {own};
  Setup no_middle = own;
  no_middle.sinks = std::min(own.sinks, own.budget - std::min(own.budget, 1U));
  no_middle.recent = own.budget - no_middle.sinks;
  Setup window = own;
  window.sinks = 0;
  window.recent = own.budget;
  Setup alone = own;
  alone.kv_heads = alone.group = 1;
  return {no_middle, window, alone, own};
}

Judgement reduce(Trial& trial, const Case& what, bool token_by_token) {
  const auto contract = trial.family().contract(what.setup);
  if (!contract || contract->reference.empty()) return NotTested{"these sizes are refused"};
  auto named = named_spec(trial, *contract);
  if (auto* why = std::get_if<NotTested>(&named)) return *why;
  const auto reduced = reduction_of(std::get<Spec>(named), what.setup, token_by_token);
  if (!reduced) return NotTested{"nothing simpler does the same", true};
  History history = trial.run(what);
  Compared compare = compared(*contract);
  // What hides rows instead of freeing them shows what the simpler one shows.
  const bool hides = contract->pinned_first_page;
  if (reduced->compare == Compared::visible || hides) compare = Compared::visible;
  Referee referee(history, reduced->spec, compare,
                  contract->reference + " is here " + reduced->spec.canonical() + ", which");
  return verdict(referee, history);
}

Judgement reductions(Trial& trial, const Contract&) {
  bool any = false;
  const Case feeds = only_feeds(trial.what());
  for (const Setup& setup : reducing_setups(trial)) {
    Case chunked = feeds;
    chunked.setup = setup;
    for (const bool token_by_token : {false, true}) {
      const Case what = token_by_token ? one_by_one(setup, feeds.stream, feeds.tokens()) : chunked;
      Judgement judgement = reduce(trial, what, token_by_token);
      if (std::holds_alternative<Finding>(judgement)) return judgement;
      any |= std::holds_alternative<std::monostate>(judgement);
    }
  }
  if (!any) return NotTested{"nothing simpler does the same", true};
  return {};
}

Law model_law() {
  return {.id = "reference.model",
          .sentence = "The subject keeps and shows what the specification that it names says.",
          .why =
              "Laws say what any cache must do; the specification says what this policy does, as "
              "ten lines over lists of positions that share no code with it. Fed the same calls, "
              "the same draws and the same attention, the stored rows and what every query sees "
              "must be equal, token for token, in every layer and head, through forks and resets. "
              "Where a decision hangs on "
              "a difference that rounding could turn round, the comparison stops.",
          .seen_in =
              "LightGBM #4450; asap_sketchlib #83; vLLM LRUEvictor.update; H2O and "
              "Keyformer masks",
          .wants = {.forks = true, .resets = true, .several_layers = true, .several_heads = true},
          .must_see = {},
          .not_applicable = unless_named,
          .check = &model};
}

Law dense_law() {
  return {
      .id = "reference.dense",
      .sentence = "As long as the budget holds all tokens, nothing is evicted or hidden.",
      .why =
          "Before the budget is reached no policy has anything to decide, so every cache must "
          "equal plain causal attention: all tokens stored, each query seeing all before it. "
          "Caches that trim too early, that count a chunk twice, or whose masks assume a full "
          "window fail here, on the shortest inputs there are. The same holds for a cache without "
          "a budget at any length.",
      .seen_in = "kvpress #264; attention_sinks (equal at 1024 tokens)",
      .wants = {},
      .must_see = {.eviction = false},
      .not_applicable = never,
      .check = &dense};
}

Law reductions_law() {
  return {
      .id = "reference.reductions",
      .sentence = "Sizes that turn the policy into a simpler one make it do the same.",
      .why =
          "Sinks and recent tokens that fill the budget leave no choice, so any policy is then "
          "streaming, and without sinks a window; a head that is alone in its layer, or sure of "
          "its "
          "whole budget, shares none; no slack is no laziness; and fed token by "
          "token, making room before attention is a window of the budget. Such sizes are where "
          "slices like [-0:] turn into everything, and where a policy that decides by attention "
          "can be compared exactly. The sizes are tried one after the other; those that the "
          "subject refuses are left out.",
      .seen_in = "transformers SinkCache; H2O recent=0; kvpress StreamingLLM",
      .wants = {},
      .must_see = {},
      .not_applicable = unless_named,
      .check = &reductions};
}

}  // namespace

std::vector<Law> reference_laws() {
  return {model_law(), dense_law(), reductions_law()};
}

}  // namespace kv::properties
