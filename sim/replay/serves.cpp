#include "kvcheck/sim/replay/serves.h"

#include <string>
#include <string_view>

#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/replay/cell_state.h"

namespace kv {
namespace {

std::string vectors_asked(const Needs& needs) {
  if (needs.keys) return "keys";
  return needs.values ? "values" : "queries";
}

// What a trace of vectors makes impossible for some specs.
Result<void> check_rules(const TraceInfo& info, const Spec& spec) {
  const std::string begin = "'" + spec.label() + "' ";
  for (std::size_t i = 0; i < info.rules.size() && spec.selects(); ++i) {
    const LayerRules& rules = info.rules[i];
    const std::string layer = "layer " + std::to_string(info.layers[i]) + " of '" + info.name + "'";
    if (rules.window > 0 && rules.window < info.tokens) {
      return usage_error(begin + "selects pages, but " + layer + " has a window of " +
                         std::to_string(rules.window) + "; expected layers without a window");
    }
    if (!rules.slopes.empty()) {
      return usage_error(begin + "ranks pages by keys and queries, but in " + layer +
                         " attention also depends on the distance (slopes); expected another spec");
    }
  }
  if (spec.unit == Unit::model && needs_of(spec).vectors() && different_rotations(info) > 1) {
    return usage_error(begin + "compares vectors of all layers, but those of '" + info.name +
                       "' rotate unlike each other; expected unit=layer or a smaller one");
  }
  return {};
}

}  // namespace

Result<void> check_serves(const Trace& trace, const Spec& spec) {
  const TraceInfo& info = trace.info();
  const Needs needs = needs_of(spec);
  if (spec.storage) {
    return usage_error("'" + spec.label() +
                       "' says how a model stores keys and values, and a replay takes the recorded "
                       "ones; leave out storage=" +
                       spec.storage->text() + ", or run it with 'kvcheck eval'");
  }
  if (needs.reconstruction > 0) {
    return usage_error("'" + spec.label() +
                       "' scores a prompt while a model repeats it, and no trace records that; "
                       "run it with 'kvcheck eval'");
  }
  if (info.kind == TraceKind::attention) {
    // Rows of probabilities hold only for the positions at which they were recorded. Other
    // positions need q and k.
    if (spec.positions != Positions::absolute) {
      return usage_error("'" + spec.label() + "' asks for in-cache positions, but '" + info.name +
                         "' records attention rows, which hold for " +
                         (policy_recorded(info).empty() ? "absolute positions only"
                                                        : "the positions they were recorded at") +
                         "; record q/k/v, or add ;positions=absolute to take them as they are");
    }
    if (spec.selects()) {
      return usage_error("'" + spec.label() + "' ranks pages by keys and queries, but '" +
                         info.name + "' records attention rows only; record q/k/v");
    }
    if (needs.vectors()) {
      return usage_error("'" + spec.label() + "' looks at " + vectors_asked(needs) + ", but '" +
                         info.name + "' records attention rows only; record q/k/v");
    }
  }
  if (spec.selects() && info.layers.back() < spec.top_pages.dense_layers) {
    return usage_error("'" + spec.label() + "' leaves the first " +
                       std::to_string(spec.top_pages.dense_layers) + " layers dense, and '" +
                       info.name + "' has no other; expected fewer, as in visibility=top-pages:" +
                       std::to_string(spec.top_pages.attended) + "/" +
                       std::to_string(spec.top_pages.page) + "/0");
  }
  if (Result<void> possible = check_rules(info, spec); !possible) return possible;
  if (Result<void> there = check_grid(spec, grid_of(info)); !there) {
    return usage_error("'" + spec.label() + "' on '" + info.name + "': " + there.error().message);
  }
  const Result<Spec> sized = resolved_for(info, spec);
  if (!sized) return sized.error();
  if (Result<void> there = check_grid(*sized, grid_of(info)); !there) {
    return usage_error("'" + spec.label() + "' on '" + info.name + "': " + there.error().message);
  }
  if (needs.token_classes && trace.transcript().text_ends.empty()) {
    return usage_error("'" + spec.label() + "' looks at the words that tokens are, but '" +
                       info.name + "' has no text; record it with 'text' and 'text_ends'");
  }
  return {};
}

Result<Spec> resolved_for(const TraceInfo& trace, const Spec& spec) {
  return resolved(spec, trace.marks, trace.tokens, "'" + trace.name + "'");
}

std::vector<TokenClass> token_classes(const Trace& trace) {
  const Transcript& transcript = trace.transcript();
  const std::string_view text = transcript.text;
  std::vector<TokenClass> classes;
  std::size_t begin = 0;
  for (const std::int64_t at : transcript.text_ends) {
    const auto end = static_cast<std::size_t>(at);
    classes.push_back(token_class_of(text.substr(begin, end - begin)));
    begin = end;
  }
  return classes;
}

}  // namespace kv
