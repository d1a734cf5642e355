#include <algorithm>
#include <array>
#include <utility>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/relations/referee.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

WhyNot unless_named(const Contract& contract) {
  if (contract.reference.empty()) return "the subject names no reference";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  if (contract.evicts_ahead && contract.visibility != Visibility::window) {
    return "evicts-ahead: a specification whose queries see all that is stored trims later";
  }
  if (contract.visibility == Visibility::top_pages && contract.unit != Unit::head) {
    return "each head selects for itself, and units do not report heads apart";
  }
  return {};
}

// What the text of a spec with a ratio does not say: its least budget, and a window that is not a
// share too.
void set_least(const Contract& contract, const Setup& setup, Spec& spec) {
  const std::uint32_t own = contract.uneven() ? setup.budget : contract.budget;
  spec.budget = contract.shares_budget() ? contract.mean_budget : own;
  if (spec.policy->protection.middle != Protection::Middle::some) return;
  spec.recent = contract.recent;
  spec.phases.recent_follows = false;
}

// The spec that a contract names, or why the subject cannot be compared with it.
std::variant<Spec, NotTested> named_spec(const Contract& contract,
                                         const Setup& setup,
                                         const ReferenceGets& given) {
  auto spec = parse_spec(contract.reference);
  if (!spec) return NotTested{"reference: " + spec.error().message};
  const auto rule = rule_of(*spec);
  if (!rule) {
    return NotTested{"there is no specification of " + std::string(spec->policy->name), true};
  }
  if ((rule->wants_inputs() || spec->selects()) && !given.inputs) {
    return NotTested{"the reference looks at more than attention, which no process is shown", true};
  }
  if (!spec->policy->protection.takes_sinks && contract.sinks > 0) {
    return NotTested{"the reference has no sinks and the contract does"};
  }
  // The specification is given the same draws, and with others it would keep other tokens.
  if (contract.random && !given.draws) {
    return NotTested{"the subject leaves its chance to itself", true};
  }
  if (spec->phases.ratio > 0) set_least(contract, setup, *spec);
  return *spec;
}

bool reports_weights(const History& history) {
  return std::ranges::all_of(history.events, [](const Event& event) {
    return std::ranges::all_of(event.facts.units, [](const UnitFacts& unit) {
      return unit.returned.empty() || !unit.weights.empty();
    });
  });
}

Compared compared(const Contract& contract) {
  // What is evicted ahead no later query would see: what is visible shows the same decisions.
  const bool differs = contract.masks_evicted || contract.evicts_ahead;
  return differs ? Compared::visible : Compared::visible_and_stored;
}

Judgement verdict(Referee& referee) {
  Judgement judgement = held(referee.judge());
  return unless_silent(std::move(judgement), referee.compared(), {"no call could be compared"});
}

}  // namespace

Judgement keeps_to_reference(const History& history,
                             const Contract& contract,
                             const ReferenceGets& given) {
  auto named = named_spec(contract, history.what.setup, given);
  if (auto* why = std::get_if<NotTested>(&named)) return *why;
  const Spec& spec = std::get<Spec>(named);
  if (!given.logits && rule_of(spec)->wants_mass() && !reports_weights(history)) {
    return NotTested{"the reference decides by attention, and no weights are reported", true};
  }
  Referee referee(history, spec, compared(contract), "the specification of " + contract.reference,
                  given.logits ? Masses::of_stream : Masses::reported);
  return verdict(referee);
}

namespace {

ReferenceGets given_to(const Trial& trial) {
  return {.inputs = trial.family().in_process(), .draws = trial.family().uses_draws()};
}

Judgement model(Trial& trial, const Contract& contract) {
  auto named = named_spec(contract, trial.what().setup, given_to(trial));
  if (auto* why = std::get_if<NotTested>(&named)) return *why;
  auto history = trial.run(trial.what());
  if (!history) return untested(history.error());
  return in_run(*history, keeps_to_reference(*history, contract, given_to(trial)));
}

// Whether nothing was ever evicted: the budget, or the pages that a query attends to, hold all.
bool fits(const UnitView& at) {
  const std::size_t tokens = at.branch().size();
  if (at.contract.selects_in(at.history.place_of(at.unit).layer)) {
    return tokens <= at.contract.top_pages.attended;
  }
  return at.contract.budget == 0 || (tokens <= at.contract.budget && !at.step.was_full);
}

MaybeFinding sees_all(const QueryView& at) {
  const Tokens all = at.between_positions(0, at.position() + 1);
  const Tokens seen = at.visible();
  if (seen == all) return {};
  return at.finding("sees all that was fed: " + text_of(all), "it sees " + text_of(seen), all);
}

Judgement dense(const History& history, const Contract& contract) {
  bool any = false;
  Judgement judgement = each_unit(history, contract, [&](const UnitView& at) -> MaybeFinding {
    if (!at.step.fed() || !fits(at)) return {};
    any = true;
    for (std::size_t query = 0; query < at.event().fed.size(); ++query) {
      if (auto finding = sees_all({at, query})) return finding;
    }
    const std::size_t tokens = at.branch().size();
    const Tokens all = between(at.branch(), 0, static_cast<std::int64_t>(tokens));
    const Tokens stored = at.stored();
    // A cache that keeps fewer may trim as soon as the budget is reached, not only beyond it.
    // One that makes the next token's place does, and what is stored then is one row less.
    const bool fewer_is_legal =
        (contract.keeps_fewer || contract.evicts_ahead) && tokens == at.contract.budget;
    if (stored == all || fewer_is_legal) return {};
    return at.finding(
        "all " + std::to_string(tokens) + " tokens fit and are stored: " + text_of(all),
        "stored are " + text_of(stored));
  });
  return unless_silent(std::move(judgement), any, {"no call left the branch within its budget"});
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
  if (!spec.bounded() || spec.phases.compress == Phases::Compress::never) return {};
  if (spec.phases.ratio > 0) return {};  // sizes follow from the prompt
  Reduction reduced{spec};
  if (spec.budgets.shared() && shares_nothing(spec, setup)) reduced.spec.budgets = Budgets();
  // Without a middle every policy keeps the newest tokens, and the sinks if it has any.
  if (spec.middle() == 0 && spec.policy->name != "window") {
    if (spec.sinks == 0) {
      reduced.spec = with_policy(reduced.spec, "window");
    } else if (spec.policy->name != "streaming") {
      reduced.spec = with_policy(reduced.spec, "streaming");
    }
  }
  if (spec.timing == Timing::lazy && spec.slack == 0) {
    reduced.spec.timing = Timing::attend_then_trim;
    // Token by token, making room first shows each query exactly a window of the budget; what is
    // stored between calls still differs.
  } else if (spec.timing == Timing::trim_then_attend && spec.visibility == Visibility::causal &&
             spec.recent > 0 && token_by_token) {
    reduced.spec.visibility = Visibility::window;
    reduced.compare = Compared::visible;
  }
  if (reduced.spec == spec) return {};
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
  auto named = named_spec(*contract, what.setup, given_to(trial));
  if (auto* why = std::get_if<NotTested>(&named)) return *why;
  const auto reduced = reduction_of(std::get<Spec>(named), what.setup, token_by_token);
  if (!reduced) return NotTested{"nothing simpler does the same", true};
  auto history = trial.run(what);
  if (!history) return untested(history.error());
  Compared compare = compared(*contract);
  // Rows that are hidden instead of freed stay stored, so only visibility can be the same.
  const bool hides = contract->pinned_first_page;
  if (reduced->compare == Compared::visible || hides) compare = Compared::visible;
  Referee referee(*history, reduced->spec, compare,
                  contract->reference + " is here " + reduced->spec.canonical() + ", which");
  return in_run(*history, verdict(referee));
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

constexpr auto table = std::to_array<Law>({
    {.id = "reference.model",
     .sentence = "The subject keeps and shows what the specification that it names says.",
     .why = "Laws say what any cache must do; the specification says what this policy does, as ten "
            "lines over lists of positions that share no code with it. Fed the same calls, the "
            "same draws and the same attention, the stored rows and what every query sees must be "
            "equal, token for token, in every layer and head, through forks and resets. Where a "
            "decision hangs on a difference that rounding could reverse, the comparison stops.",
     .seen_in =
         "LightGBM #4450; asap_sketchlib #83; vLLM LRUEvictor.update; H2O and Keyformer masks",
     .wants = {.forks = true, .resets = true, .several_layers = true, .several_heads = true},
     .not_applicable = unless_named,
     .check = model},
    {.id = "reference.dense",
     .sentence = "As long as the budget holds all tokens, nothing is evicted or hidden.",
     .why = "Before the budget is reached no policy has anything to decide, so every cache must "
            "equal plain causal attention: all tokens stored, each query seeing all before it. "
            "Caches that trim too early, that count a chunk twice, or whose masks assume a full "
            "window fail here, on the shortest inputs there are. The same holds for a cache "
            "without a budget at any length.",
     .seen_in = "kvpress #264; attention_sinks (equal at 1024 tokens)",
     .must_see = {.eviction = false},
     .check = dense},
    {.id = "reference.reductions",
     .sentence = "Sizes that turn the policy into a simpler one make it do the same.",
     .why =
         "Sinks and recent tokens that fill the budget leave no choice, so any policy is then "
         "streaming, and without sinks a window; a head that is alone in its layer, or sure of its "
         "whole budget, shares none; no slack is no laziness; and fed token by token, making room "
         "before attention is a window of the budget. Such sizes are where slices like [-0:] "
         "become "
         "everything, and where a policy that decides by attention can be compared exactly. "
         "The sizes are tried one after the other; those that the subject refuses are left out.",
     .seen_in = "transformers SinkCache; H2O recent=0; kvpress StreamingLLM",
     .not_applicable = unless_named,
     .check = reductions},
});

}  // namespace

constinit const Laws reference_laws = table;

}  // namespace kv::properties
