// A spec: one point in the space of eight questions, as text and as a value.
//
//   reservoir:sinks=4,recent=28,budget=64,algorithm=l;timing=lazy:64;positions=in-cache
//   ^policy   ^protection and budget      ^its own     ^the cache's settings
//
// `@name` starts from a preset (sim/spec/presets.h), and fields after it override the preset's.
//
// Fields may be in any order, and each may be given once. Defaults of sizes that are left out:
//   sinks    the policy's default
//   budget   SpecDefaults::budget, else 256; without a middle it is sinks + recent, and either of
//            recent and budget determines the other
//   recent   the policy's share of the budget without the sinks, rounded down
// Always sinks + recent <= budget. visibility=window needs recent >= 1, because a query sees its
// own key.
//
// visibility=top-pages:ATTENDED/PAGE/DENSE evicts nothing. In all but the first DENSE layers (2 if
// left out), each query attends to few pages (sim/cache/page_selection.h): at most ATTENDED tokens,
// in whole pages of PAGE (16 if left out). The setting needs a policy that keeps everything
// (dense), positions=absolute, ATTENDED a multiple of PAGE, and units that do not span layers.
//
// budgets=... distributes the budget over layers and heads (sim/spec/budgets.h). With adaptive:0.2
// the heads of a layer share it by score.
//
// compress=... says when the cache compresses at all, and ratio=... gives the budget as a share of
// a prompt (sim/spec/phases.h). A spec of which a prompt decides something has no sizes of its own
// before it is resolved for a stream.
//
// vectors=re-evaluated needs positions that are ranks, the same residents everywhere (no middle, or
// unit=model), and no eviction inside a chunk (visibility=causal, or chunk=1).
//
// storage=... says how a model stores keys and values (sim/spec/kv_format.h). Without it --storage
// of a command says so. Laws and samples do not depend on it, and a replay has nothing to store, so
// check_serves refuses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/needs.h"
#include "kvcheck/sim/spec/budgets.h"
#include "kvcheck/sim/spec/kv_format.h"
#include "kvcheck/sim/spec/phases.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

struct Spec {
  const PolicyEntry* policy = nullptr;
  Options options;
  std::uint32_t sinks = 0;
  std::uint32_t recent = 0;
  std::uint32_t budget = 0;  // of a unit, on average; 0 if nothing is ever evicted (dense)
  Timing timing = Timing::attend_then_trim;
  std::uint32_t slack = 0;  // for timing=lazy
  Visibility visibility = Visibility::causal;
  TopPages top_pages{};  // for visibility=top-pages; else the default
  Positions positions = Positions::absolute;
  Unit unit = Unit::kv_head;
  Budgets budgets{};
  Vectors vectors = Vectors::kept;
  Phases phases{};
  std::optional<KvFormat> storage{};  // in a model; nullopt: as --storage says
  std::uint32_t chunk = 1;
  LayerOf layer{};  // of the unit, in unit_spec()'s result (sim/spec/budgets.h); not in the text

  // Tokens of the middle that survive a trim: budget - sinks - recent.
  [[nodiscard]] std::uint32_t middle() const { return budget - sinks - recent; }

  [[nodiscard]] bool bounded() const { return budget > 0 || phases.ratio > 0; }

  // The budget as a reader sees it: tokens, or the share of a prompt; "-" without a budget.
  [[nodiscard]] std::string budget_text() const;

  // Whether each query head selects its own tokens from the stored ones.
  [[nodiscard]] bool selects() const { return visibility == Visibility::top_pages; }

  // visibility=... in full: "causal", "top-pages:1024/16/2".
  [[nodiscard]] std::string visibility_text() const;

  // The full text with every field, except compress=always and storage where it is open. parse_spec
  // returns an equal value.
  [[nodiscard]] std::string canonical() const;

  // The shortest text that names this point, for legends and table rows. It omits fields at their
  // defaults, the budget, and sizes that follow from the budget.
  [[nodiscard]] std::string label() const;

  bool operator==(const Spec&) const = default;
};

// Errors name the wrong word, what was expected, and the nearest correct word. It is also an error
// if both the spec and `defaults` fix a value and they differ.
Result<Spec> parse_spec(std::string_view text, const SpecDefaults& defaults = {});

// Whether the text fixes no budget, so that the one beside it or the default applies. False for a
// policy without a budget. Requires that the text parses.
bool leaves_budget_open(std::string_view text);

// Whether the spec has the policy, and each field and setting, that the text gives, as
// "streaming;timing=lazy:32" gives two things and leaves sizes open. False for a text that does not
// parse. Cost: parses a text of the spec's size.
bool gives_part_of(std::string_view text, const Spec& spec);

// The inputs that the spec's policy needs. Cost: makes one policy.
Needs needs_of(const Spec& spec);

}  // namespace kv
