#include "kvcheck/sim/spec/spec.h"

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::fuzz {
namespace {

Trace made(std::string_view text) {
  const Result<SyntheticSpec> spec = parse_synthetic(text);
  KV_CHECK(spec.has_value());
  return make_synthetic(*spec);
}

void try_traces(const Spec& spec) {
  static const std::vector<Trace> traces = [] {
    std::vector<Trace> all;
    all.push_back(made("zipf:tokens=40,layers=2,heads=4,kv_heads=2,hitters=4"));
    all.push_back(made("zipf:kind=qkv,tokens=40,layers=3,heads=4,kv_heads=2,rope=half,hitters=4"));
    all.back().mark({.prompt = 24, .question = 3});
    return all;
  }();
  for (const Trace& trace : traces) {
    const Result<void> serves = check_serves(trace, spec);
    if (!serves) static_cast<void>(refused(serves.error()));
    try_replay(trace, {.specs = {spec.canonical()}, .must_work = serves.has_value()});
  }
}

}  // namespace

bool spec(Input input) {
  const std::string_view text = text_of(input);
  const Result<Budgets> budgets = parse_budgets(text);
  if (budgets) KV_CHECK(*parse_budgets(budgets->text()) == *budgets);
  const Result<Phases> phases = parse_phases(text);
  if (phases) KV_CHECK(*parse_phases(phases->text()) == *phases);
  const Result<std::uint32_t> ratio = parse_ratio(text);
  if (ratio) KV_CHECK(*ratio > 0 && *parse_ratio(ratio_text(*ratio)) == *ratio);
  const Result<Spec> parsed = parse_spec(text);
  if (!parsed) return refused(parsed.error());
  const Result<Spec> again = parse_spec(parsed->canonical());
  KV_CHECK(again.has_value() && *again == *parsed);
  KV_CHECK(again->canonical() == parsed->canonical() && !parsed->label().empty());
  // A share of a prompt is no budget before the prompt is known.
  const bool sized = parsed->bounded() && parsed->phases.ratio == 0;
  KV_CHECK(!sized || parsed->sinks + parsed->recent <= parsed->budget);
  KV_CHECK(is_resolved(without_phases(*parsed)));
  if (leaves_budget_open(text)) {
    const Result<Spec> larger = parse_spec(text, {.budget = parsed->budget + 8});
    if (larger) KV_CHECK(larger->budget == parsed->budget + 8);
  }
  try_traces(*parsed);
  return true;
}

}  // namespace kv::fuzz
