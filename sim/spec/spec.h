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
#include "kvcheck/policies/needs.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/budgets.h"

namespace kv {

// When the cache trims to its budget, relative to attention. For a chunk of c tokens:
enum class Timing {
  attend_then_trim,  // append c, attend, trim to the budget
  trim_then_attend,  // make room for c, append c, attend
  lazy,  // append c, attend, trim to the budget once more than budget + slack are stored
};

// What a query inside a chunk may attend to.
enum class Visibility {
  causal,  // everything stored up to itself
  window,  // exactly what it would see were the chunk fed token by token, making room: never more
           // than the budget, its own key included
  top_pages,  // of everything stored up to itself few pages, chosen anew by each query and head
};

// Of visibility=top-pages: how much a query attends to.
struct TopPages {
  std::uint32_t attended = 1024;   // tokens at most; a multiple of `page`, at least one page
  std::uint32_t page = 16;         // tokens that are attended to or not together
  std::uint32_t dense_layers = 2;  // the first so many layers attend to everything

  // How many pages a query attends to, its own among them.
  [[nodiscard]] std::uint32_t pages() const { return attended / page; }

  bool operator==(const TopPages&) const = default;
};

// At which rotary positions attention is computed.
enum class Positions {
  absolute,  // a token's index in the stream; gaps stay
  in_cache,  // a resident's rank among the visible; the query has the last rank
  shifted,   // the same ranks, held by turning the stored keys whenever a gap closes: what ring
             // buffers do. Equal to in_cache but for rounding, which only a model shows
};

// Whether positions are ranks, so that they close the gaps that evictions leave.
constexpr bool are_ranks(Positions positions) {
  return positions != Positions::absolute;
}

// Which keys and values the residents have once others have gone. A replay always shows those that
// were recorded; a model runs again over the residents where the spec says so.
enum class Vectors {
  kept,          // those of the pass that fed them; they remember what has gone since
  re_evaluated,  // those of a fresh pass over the residents, made after every trim
};

// Who shares one set of residents.
enum class Unit { head, kv_head, layer, model };

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

// What the words of a spec may leave open, given beside it (a sweep's --budget and --chunk). 0: not
// given.
struct SpecDefaults {
  std::uint32_t budget = 0;
  std::uint32_t chunk = 0;
};

// Errors name the bad word, what was expected there, and the nearest right word. When both the spec
// and `defaults` fix a value and they differ, that is an error too.
Result<Spec> parse_spec(std::string_view text, const SpecDefaults& defaults = {});

// Whether the words fix no budget, so that it is the one beside them or the default. False for a
// policy that has none. Requires that they parse.
bool leaves_budget_open(std::string_view text);

// What the spec's policy asks to see. Cost: makes one policy.
Needs needs_of(const Spec& spec);

std::string_view name_of(Timing timing);
std::string_view name_of(Visibility visibility);
std::string_view name_of(Positions positions);
std::string_view name_of(Unit unit);
std::string_view name_of(Vectors vectors);

}  // namespace kv
