// A spec: one point in the space of eight questions, as text and as a value.
//
//   reservoir:sinks=4,recent=28,budget=64,algorithm=l;timing=lazy:64;positions=in-cache
//   ^policy   ^protection and budget      ^its own     ^the cache's settings
//
// `@name` starts from a preset (sim/spec/presets.h), and fields after it override the preset's.
//
// Fields stand in any order; none may be given twice. Sizes that are left out:
//   sinks    the policy's default
//   budget   SpecDefaults::budget, else 256; without a middle it is sinks + recent, and either of
//            recent and budget gives the other
//   recent   the policy's share of what the sinks leave of the budget, rounded down
// Always sinks + recent <= budget. visibility=window needs recent >= 1: a query sees its own key.
//
// visibility=top-pages:ATTENDED/PAGE/DENSE evicts nothing and lets each query attend to few pages
// (sim/cache/page_selection.h): at most ATTENDED tokens, in whole pages of PAGE (16 if left out),
// in all but the first DENSE layers (2 if left out). It needs a policy that keeps everything
// (dense), positions=absolute, ATTENDED a multiple of PAGE, and units that do not span layers.
//
// budgets=... deals the budget over layers and heads (sim/spec/budgets.h); adaptive:0.2 lets the
// heads of a layer share it by score.
//
// vectors=re-evaluated needs positions that are ranks, the same residents everywhere (no middle, or
// unit=model), and no eviction inside a chunk (visibility=causal, or chunk=1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/needs.h"
#include "kvcheck/sim/spec/budgets.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

struct Spec {
  const PolicyEntry* policy = nullptr;
  Options options;
  std::uint32_t sinks = 0;
  std::uint32_t recent = 0;
  std::uint32_t budget = 0;  // of a unit, on average; 0 when nothing is ever evicted (dense)
  Timing timing = Timing::attend_then_trim;
  std::uint32_t slack = 0;  // of lazy
  Visibility visibility = Visibility::causal;
  TopPages top_pages{};  // of visibility=top-pages, else as it is by default
  Positions positions = Positions::absolute;
  Unit unit = Unit::kv_head;
  Budgets budgets{};
  Vectors vectors = Vectors::kept;
  std::uint32_t chunk = 1;
  LayerOf layer{};  // where the unit is, in a unit's own spec (sim/spec/budgets.h); no words say it

  // Tokens of the middle that survive a trim: budget - sinks - recent.
  [[nodiscard]] std::uint32_t middle() const { return budget - sinks - recent; }

  [[nodiscard]] bool bounded() const { return budget > 0; }

  // Whether queries choose among what is stored, each query head for itself.
  [[nodiscard]] bool selects() const { return visibility == Visibility::top_pages; }

  // visibility=... in full: "causal", "top-pages:1024/16/2".
  [[nodiscard]] std::string visibility_text() const;

  // The full text, every field written; parse_spec gives back an equal value.
  [[nodiscard]] std::string canonical() const;

  // The shortest text that names this point: fields at their defaults are left out, and the budget
  // and what follows from it too. For legends and table rows.
  [[nodiscard]] std::string label() const;

  bool operator==(const Spec&) const = default;
};

// Errors name the bad word, what was expected there, and the nearest right word. When both the spec
// and `defaults` fix a value and they differ, that is an error too.
Result<Spec> parse_spec(std::string_view text, const SpecDefaults& defaults = {});

// Whether the words fix no budget, so that it is the one beside them or the default. False for a
// policy that has none. Requires that they parse.
bool leaves_budget_open(std::string_view text);

// What the spec's policy asks to see. Cost: makes one policy.
Needs needs_of(const Spec& spec);

}  // namespace kv
