#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/walk.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

// What `check` finds of a row, and whether that is how it is stored or how attention saw it.
template <typename Check>
Judgement check_each(const History& history, Check check) {
  return check_rows(history, {"no row was stored"}, [&](const RowAt& at, bool& tested) {
    tested = true;
    std::optional<Difference> found = check(at);
    if (found) found->seen += at.is_stored ? ", as stored" : ", as returned to attention";
    return found;
  });
}

std::optional<Difference> unpaired(const RowAt& at) {
  const Row& row = at.row;
  if (row.value != row.key) {
    return Difference{phrase("the value of token ", row.value, " lies beside its own key"),
                      phrase("its key is of token ", row.key)};
  }
  if (row.value_place == row.key_place || row.value_place == place_not_reported ||
      row.key_place == place_not_reported) {
    return {};
  }
  return Difference{phrase("key and value of token ", row.value, " were made for the same cache"),
                    phrase("the value is of ", row.value_place, ", the key of ", row.key_place)};
}

Judgement pairing(const History& history, const Contract&) {
  if (!any_row(history, reports_key)) {
    return NotTested{"the subject does not tell its keys apart from its values", true};
  }
  return check_each(history, unpaired);
}

// Says that a half of the row, key or value, was made for another cache than its unit's, if it was.
std::optional<Difference> astray(const History& history,
                                 const Contract& contract,
                                 const RowAt& at,
                                 bool key) {
  const bool per_query_head = history.contract.unit == Unit::head;
  const Place home = history.place_of(at.unit);
  const Token token = key ? at.row.key : at.row.value;
  const Place& reported = key ? at.row.key_place : at.row.value_place;
  const auto& origins = at.line.origins[home.sequence];
  const auto position = static_cast<std::size_t>(token.position);
  if (token.position < 0 || position >= origins.size() || reported == place_not_reported) return {};
  Place made{origins[position], contract.owner_of(home.layer), home.head};
  if (reported == made) return {};
  // A cache per query head may tag rows by query head or by the kv head they came from.
  if (per_query_head) {
    made.head /= history.what.setup.group;
    if (reported == made) return {};
  }
  return Difference{
      phrase(key ? "the key" : "the value", " of token ", token, " was made for ", made),
      phrase("it was made for ", reported)};
}

Judgement place(const History& history, const Contract& contract) {
  if (!any_row(history, reports_place)) {
    return NotTested{"the subject does not tell whose cache its rows were made for", true};
  }
  return check_each(history, [&](const RowAt& at) {
    auto value = astray(history, contract, at, false);
    return value ? value : astray(history, contract, at, true);
  });
}

Judgement unharmed(const History& history, const Contract& contract) {
  if (contract.positions == PositionMode::shifted) {
    return NotTested{"keys are rotated again: position.norm judges them", true};
  }
  if (!any_row(history, [](const Row& row) { return !std::isnan(row.key_error); })) {
    return NotTested{"the subject tells no keys as vectors", true};
  }
  return check_each(history, [&](const RowAt& at) -> std::optional<Difference> {
    const Row& row = at.row;
    // A shift rotates keys as well, and a row of no token has no key to compare with.
    if (!at.line.shifts.empty() || row.key.position < 0 || std::isnan(row.key_error)) return {};
    const double most = most_key_error(contract, row, 1);
    if (row.key_error <= most) return {};
    return Difference{
        phrase("the key of token ", row.key, " is wrong by no more than ", most, " of its length"),
        phrase("it is wrong by ", row.key_error)};
  });
}

// Whether the contract lets a row be stored in lower precision, `fed` tokens into its branch.
bool may_be_lower(const Contract& contract, std::size_t position, std::size_t fed) {
  // f16 and bf16 round every row when it is stored; codes spare the sinks and the last rows.
  if (contract.precision == Precision::f32) return false;
  return !has_tiers(contract.precision) || (position + contract.full_precision_recent < fed &&
                                            position >= contract.full_precision_sinks);
}

WhyNot all_lower(const Contract& contract) {
  const bool half = contract.precision == Precision::f16 || contract.precision == Precision::bf16;
  if (!half) return {};
  return "a precision is declared that all rows may be stored in";
}

std::string why_exact(const Contract& contract, std::size_t position) {
  const bool sink = position < contract.full_precision_sinks;
  return phrase(": it is one of the ", sink ? "first " : "last ",
                sink ? contract.full_precision_sinks : contract.full_precision_recent);
}

// The last tokens of a branch are stored as they were fed, and not many more than that.
std::optional<Difference> wrong_tier(const Contract& contract, const UnitAt& at, bool& tested) {
  const bool lower = contract.precision != Precision::f32;
  const std::size_t kept = contract.full_precision_recent;
  std::size_t full = 0;
  for (const Row& row : at.facts.stored) {
    if (row.value.position < 0) continue;
    tested = true;
    const auto position = static_cast<std::size_t>(row.value.position);
    if (row.full_precision) {
      if (position >= std::max(contract.sinks, contract.full_precision_sinks)) ++full;
    } else if (!may_be_lower(contract, position, at.event.branch.size())) {
      return Difference{phrase("token ", row.value, " is stored as it was fed",
                               lower ? why_exact(contract, position) : ""),
                        "it is stored in lower precision", 0};
    }
  }
  // Flushes work in blocks, so up to a second window, a chunk and a page may wait in full
  // precision.
  if (!has_tiers(contract.precision) || full <= 2 * kept + at.event.fed.size() + contract.page) {
    return {};
  }
  return Difference{phrase("all but the sinks, the last ", kept,
                           " and what waits to be quantised with them are stored in lower "
                           "precision"),
                    phrase(full, " rows are stored as they were fed"), 0};
}

Judgement precision(const History& history, const Contract& contract) {
  const auto reports_it = [](const Row& row) {
    return row.apart || !row.full_precision || !std::isnan(row.key_error);
  };
  if (!has_tiers(contract.precision) && !any_row(history, reports_it)) {
    return NotTested{"the subject does not tell in which precision it stores its rows", true};
  }
  return check_units(history, {"no row was stored"}, [&](const UnitAt& at, bool& tested) {
    return wrong_tier(contract, at, tested);
  });
}

WhyNot unless_codes(const Contract& contract) {
  if (has_tiers(contract.precision)) return {};
  return "no codes are declared (precision=int8 or int4)";
}

WhyNot never_evicts(const Contract& contract) {
  if (contract.uneven()) return "largest-budget: no size makes every unit evict nothing";
  if (contract.budget > 0) return {};
  return "nothing is ever evicted";
}

constexpr auto table = std::to_array<Law>({
    {.id = "row.pairing",
     .sentence = "Each row holds the key and the value of one token.",
     .why = "Attention finds a token by its key and reads its value. If the two are moved by "
            "different code, or cut along different axes, the weights of one token are spent on "
            "another's value, and nothing crashes. Keys and values are tagged apart to see it.",
     .seen_in = "mlxcel #412; llama.cpp #14189; M18",
     .must_see = {.eviction = false},
     .check = pairing},
    {.id = "row.place",
     .sentence = "Each row was made for the sequence, layer and head in whose cache it lies.",
     .why = "Layers, heads and sequences have caches of their own. A wrong stride, a loop variable "
            "left at 0 or a reorder that forgets a part puts rows of one cache into another; "
            "shapes agree, so only the content tells. After a reorder a sequence's rows are those "
            "made for the sequence that it became; a layer that is declared to attend to another's "
            "rows (rows-from) holds those made for that one.",
     .seen_in = "tt-metal #54742; transformers #46612; the printed reservoir code (figure 3); M17",
     .must_see = {.eviction = false},
     .check = place},
    {.id = "row.unharmed",
     .sentence = "A key that is never shifted remains the key that was fed.",
     .why = "Evicting others must not change a row that is kept. Keys are overwritten by masking "
            "tricks, by requantising at each flush and by copies onto rows that are still in use; "
            "each shows as an error larger than the declared precision explains.",
     .seen_in = "kvpress (per-head masking), M54; transformers #48700",
     .must_see = {.eviction = false},
     .check = unharmed},
    {.id = "row.precision",
     .sentence = "Rows are stored in full precision but for those declared to be quantised.",
     .why = "Quantised caches keep the last rows as they were fed, because those matter most. Code "
            "that quantises everything when the window fills, or counts ages from the call instead "
            "of the stream, keeps none or ever more of them.",
     .seen_in = "transformers #34189; VeloxQuant-MLX #86",
     .must_see = {.eviction = false},
     .not_applicable = all_lower,
     .check = precision},
    {.id = "row.half-step",
     .sentence =
         "A quantised number is off by at most half a step, one in full precision by nothing.",
     .why = "A code is the nearest of a few levels, so what it loses is known: half a step of the "
            "scale that its group is stored with. More means codes that are cut off instead of "
            "rounded, the scale of another group or another token, numbers that are quantised "
            "again whenever others come, or a scale that was rounded down. Rows that are declared "
            "to be exact lose nothing at all.",
     .seen_in = "llama.cpp #9743; transformers #48700; KIVI (arXiv:2402.02750), section 3",
     .must_see = {.eviction = false},
     .not_applicable = unless_codes,
     .check = half_step},
    {.id = "row.returned-equals-stored",
     .sentence = "A row that attention saw and that is kept is stored as attention saw it.",
     .why = "A call attends first and trims then, or the other way round; the rows are the same. "
            "Where the two are built apart, the next call reads something else than this one did.",
     .seen_in = "VeloxQuant-MLX #370, #610; ollama #14912; M58",
     .must_see = {.eviction = false},
     .check = returned_equals_stored},
    {.id = "row.evict-equals-mask",
     .sentence = "A layer attends to what is left as if the rest were masked.",
     .why = "Evicting a row takes it out of the softmax and changes nothing else: within one layer "
            "the weights are those of the same cache with room for everything, divided by what the "
            "visible rows got of them. (Through several layers that is false, because the rows "
            "themselves were made by layers that saw more; so layers are judged one by one.) The "
            "cache is compared with itself, made large enough to evict nothing.",
     .seen_in = "keys_values #140; VeloxQuant-MLX #370",
     .not_applicable = never_evicts,
     .check = evict_equals_mask},
});

}  // namespace

constinit const Laws row_laws = table;

}  // namespace kv::properties
