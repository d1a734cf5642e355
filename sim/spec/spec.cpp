#include "kvcheck/sim/spec/spec.h"

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/spec/setting_names.h"
#include "kvcheck/sim/spec/spec_sizes.h"

namespace kv {
namespace {

// Builds a spec: appends each "name=value" after the separator that its place requires.
class FieldText {
 public:
  explicit FieldText(std::string_view policy) : text_(policy) {}

  void field(std::string_view name, std::string_view value) {
    add(fields_++ == 0 ? ':' : ',', name, value);
  }

  void field(std::string_view name, std::uint32_t value) { field(name, std::to_string(value)); }

  void setting(std::string_view name, std::string_view value) { add(';', name, value); }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(char separator, std::string_view name, std::string_view value) {
    text_ += separator;
    text_.append(name).append("=").append(value);
  }

  std::string text_;
  int fields_ = 0;
};

std::string timing_text(const Spec& spec) {
  std::string text(name_of(spec.timing));
  if (spec.timing == Timing::lazy) text += ":" + std::to_string(spec.slack);
  return text;
}

// Without the numbers that are defaults. They are positional: DENSE can only follow PAGE.
std::string short_visibility(const Spec& spec) {
  const TopPages usual;
  const TopPages& own = spec.top_pages;
  std::string text(name_of(spec.visibility));
  if (!spec.selects()) return text;
  text += ":" + std::to_string(own.attended);
  const bool dense = own.dense_layers != usual.dense_layers;
  if (dense || own.page != usual.page) text += "/" + std::to_string(own.page);
  if (dense) text += "/" + std::to_string(own.dense_layers);
  return text;
}

}  // namespace

std::string_view name_of(Timing timing) {
  return timing_words[static_cast<std::size_t>(timing)];
}

std::string_view name_of(Visibility visibility) {
  return visibility_words[static_cast<std::size_t>(visibility)];
}

std::string_view name_of(Positions positions) {
  return positions_words[static_cast<std::size_t>(positions)];
}

std::string_view name_of(Unit unit) {
  return unit_words[static_cast<std::size_t>(unit)];
}

std::string_view name_of(Vectors vectors) {
  return vectors_words[static_cast<std::size_t>(vectors)];
}

std::string Spec::budget_text() const {
  if (phases.ratio > 0) {
    const std::string whole =
        phases.first_trim > 0 ? std::to_string(phases.first_trim) : "the prompt";
    return ratio_text(phases.ratio) + " of " + whole;
  }
  return bounded() ? std::to_string(budget) : "-";
}

std::string Spec::visibility_text() const {
  std::string text(name_of(visibility));
  if (!selects()) return text;
  return text + ":" + std::to_string(top_pages.attended) + "/" + std::to_string(top_pages.page) +
         "/" + std::to_string(top_pages.dense_layers);
}

std::string Spec::canonical() const {
  const Protection& protection = policy->protection;
  const bool has_sizes = protection.middle != Protection::Middle::unbounded;
  FieldText out(policy->name);
  if (has_sizes && protection.takes_sinks) out.field("sinks", sinks);
  if (has_sizes && !phases.recent_follows) out.field("recent", recent);
  if (phases.ratio > 0) {
    out.field("ratio", ratio_text(phases.ratio));
  } else if (protection.middle == Protection::Middle::some) {
    out.field("budget", budget);
  }
  for (const Parameter& parameter : policy->parameters) {
    out.field(parameter.name, options.at(parameter.name));
  }
  out.setting("timing", timing_text(*this));
  out.setting("visibility", visibility_text());
  out.setting("positions", name_of(positions));
  out.setting("unit", name_of(unit));
  out.setting("budgets", budgets.text());
  out.setting("vectors", name_of(vectors));
  // Left out by default, so that specs are written as they were before there were phases.
  if (phases.compress != Phases::Compress::always) out.setting("compress", phases.text());
  if (storage) out.setting("storage", storage->text());
  out.setting("chunk", std::to_string(chunk));
  return out.text();
}

std::string Spec::label() const {
  const Protection& protection = policy->protection;
  const Spec usual;
  FieldText out(policy->name);
  // A label names a curve over budgets, so the budget and what follows from it are left out.
  if (sinks != (protection.takes_sinks ? protection.sinks : 0)) out.field("sinks", sinks);
  const bool usual_recent =
      phases.ratio > 0 ? phases.recent_follows : recent == default_recent(*policy, sinks, budget);
  if (protection.middle == Protection::Middle::some && !usual_recent) out.field("recent", recent);
  for (const Parameter& parameter : policy->parameters) {
    const std::string& value = options.at(parameter.name);
    if (value != parameter.default_value) out.field(parameter.name, value);
  }
  if (timing != usual.timing) out.setting("timing", timing_text(*this));
  if (visibility != usual.visibility) out.setting("visibility", short_visibility(*this));
  if (positions != usual.positions) out.setting("positions", name_of(positions));
  if (unit != usual.unit) out.setting("unit", name_of(unit));
  if (budgets != usual.budgets) out.setting("budgets", budgets.text());
  if (vectors != usual.vectors) out.setting("vectors", name_of(vectors));
  if (phases.marked() && phases.then == Phases::Then::grow) {
    out.setting("compress", compress_words[static_cast<std::size_t>(phases.compress)]);
  } else if (phases.compress != usual.phases.compress) {
    out.setting("compress", phases.text());
  }
  if (storage) out.setting("storage", storage->text());
  if (chunk != usual.chunk) out.setting("chunk", std::to_string(chunk));
  return out.text();
}

Needs needs_of(const Spec& spec) {
  return spec.policy->make(spec.options)->needs();
}

}  // namespace kv
