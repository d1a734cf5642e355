#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/case.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::fuzz {
namespace {

using namespace properties;

bool is_small(const Case& what) {
  const Setup& setup = what.setup;
  const auto small = [](const Call& call) { return call.amount >= -1000 && call.amount <= 1000; };
  return what.tokens() <= 100 && what.calls.size() <= 12 && setup.sequences * setup.layers <= 4 &&
         setup.kv_heads * setup.group <= 8 && std::ranges::all_of(what.calls, small);
}

bool try_case(std::string_view text) {
  const Result<Case> parsed = parse_case(text);
  if (!parsed) return refused(parsed.error());
  const Result<Case> again = parse_case(parsed->text());
  KV_CHECK(again.has_value() && *again == *parsed && again->text() == parsed->text());
  return true;
}

}  // namespace

// A case alone, or LAW/CASE as --reproduce takes it. Our cache keeps every law.
bool test_case(Input input) {
  const std::string_view text = text_of(input);
  const std::size_t slash = text.find('/');
  const std::string_view case_text =
      slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (!try_case(case_text)) return false;
  if (slash == std::string_view::npos || !is_small(*parse_case(case_text))) return true;
  const auto family =
      make_spec_family(parse_spec("h2o:sinks=1,recent=2,budget=6;visibility=window").value());
  const Result<BatteryResult> result = reproduce(*family, text);
  if (!result) return refused(result.error());
  KV_CHECK(result->count(Status::broken) == 0);
  return true;
}

}  // namespace kv::fuzz
