// One law on one case again.
#include <array>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/battery/battery_measures.h"
#include "kvcheck/properties/battery/battery_results.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/laws/law_filter.h"

namespace kv::properties {
namespace {

Error nothing_tried(const Law& law, const std::string& why) {
  return usage_error("nothing was tried: law " + std::string(law.id) +
                     " does not speak to this case (" + why + ")");
}

// A call on a branch that no fork before it makes would be left out, and the case be another one.
Result<void> branches_exist(const Case& what) {
  std::uint32_t branches = 1;
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    const Call& call = what.calls[i];
    if (call.branch >= branches) {
      return usage_error("call " + std::to_string(i + 1) + " of the case (" + words_of(call) +
                         ") is on branch " + std::to_string(call.branch) + "; " +
                         (branches == 1
                              ? "there is only branch 0"
                              : "there are branches 0 to " + std::to_string(branches - 1)) +
                         " then, and each call k makes one more");
    }
    branches += call.kind == Call::Kind::fork ? 1 : 0;
  }
  return {};
}

// "level=quick,seed=1", of a statistical law.
Result<Effort> parse_effort(std::string_view text) {
  Effort effort;
  bool seen_level = false;
  for (const std::string_view word : split(text, ',')) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (name == "seed") {
      const auto seed = parse_count(value, "seed", 0, ~std::uint64_t{0});
      if (!seed) return seed.error();
      effort.seed = *seed;
      continue;
    }
    for (const Level level : {Level::quick, Level::full, Level::nightly}) {
      if (name != "level" || value != name_of(level)) continue;
      effort.level = level;
      seen_level = true;
    }
  }
  if (seen_level) return effort;
  return usage_error("'" + std::string(text) +
                     "' is not how a statistical law is repeated; expected "
                     "level=quick|full|nightly,seed=N");
}

Result<void> again_measured(LawResult& result, Family& family, std::string_view text) {
  const auto effort = parse_effort(text);
  if (!effort) return effort.error();
  result.measured = measure_law(*result.law, family, *effort, BatteryOptions{}.case_seconds);
  if (!result.measured->ran) return nothing_tried(*result.law, result.measured->why_not);
  result.status = result.measured->broken ? Status::broken : Status::held;
  result.cases = 1;
  return {};
}

Result<void> again_tried(LawResult& result, Family& family, std::string_view text) {
  const Law& law = *result.law;
  const auto what = parse_case(text);
  if (!what) return what.error();
  if (const auto real = branches_exist(*what); !real) return real.error();
  const auto contract = family.contract(what->setup);
  if (!contract) return contract.error();
  if (const auto why = law.why_not(*contract)) return nothing_tried(law, *why);
  BatteryOptions options;
  options.shrink = false;
  Explainer explainer(family, options, nullptr);
  const CaseTree root(*what, family.takes_sizes());
  result.cases = 1;
  const Tried tried = try_apart(law, family, *what, options.case_seconds);
  if (!tried.death.empty()) {
    result.status = Status::broken;
    explainer.explain_death(result, root, tried.death, 0);
    return {};
  }
  if (tried.status == Status::not_run) return nothing_tried(law, tried.why);
  result.coverage = tried.coverage;
  result.status = tried.status;
  const Explainer::Broken broken{&result, root};
  if (tried.status == Status::broken) explainer.explain({&broken, 1}, {});
  return {};
}

}  // namespace

Result<BatteryResult> reproduce(Family& family, std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view id = text.substr(0, slash);
  const Law* const law = find_law(id);
  if (law == nullptr) return usage_error(unknown_law(id));
  if (slash == std::string_view::npos) {
    return usage_error("'" + std::string(text) + "' names no case; expected LAW/CASE");
  }
  const Setup requested = family.requested();
  const auto contract = family.contract(requested);
  if (!contract) return contract.error();
  BatteryResult report{.subject = family.name(),
                       .contract = *contract,
                       .deviations = deviations(*contract),
                       .requested = requested,
                       .cases = 1};
  LawResult& result = report.laws.emplace_back();
  result.law = law;
  const std::string_view rest = text.substr(slash + 1);
  const auto done = std::holds_alternative<Measure>(law->check)
                        ? again_measured(result, family, rest)
                        : again_tried(result, family, rest);
  if (!done) return done.error();
  if (result.reproduce.empty()) result.reproduce = text;
  return report;
}

}  // namespace kv::properties
