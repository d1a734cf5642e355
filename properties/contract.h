// A contract: what a subject declares about itself, so that laws need not guess.
//
// Whatever is not declared is judged by the strictest reading. Every declared deviation from it is
// printed with the verdict, and a broken law names the declaration, if there is one, that would
// have made the behaviour legal.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/sim/spec/budgets.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv::properties {

// At which rotary positions attention is computed.
enum class PositionMode {
  absolute,    // the strictest: index in the stream; gaps remain
  in_cache,    // rank among the rows that the query sees; the query has the last rank
  shifted,     // in-cache, by rotating the stored keys whenever a gap closes
  unreported,  // the subject knows no positions
};

// The precision that keys are stored in; sets how far repeated rotation may drift. int8 and int4
// are codes times the step of a group of numbers.
enum class Precision { f32, f16, bf16, int8, int4 };

// Whether old rows are stored in lower precision than new ones.
constexpr bool has_tiers(Precision precision) {
  return precision == Precision::int8 || precision == Precision::int4;
}

inline constexpr std::uint32_t any_depth = 0xffffffff;

// When the cache compresses. What is fed to an empty cache in one call is its prompt: then nothing
// is evicted before the end of that call, and its queries see all of it up to themselves.
enum class Compress {
  always,       // whenever more is stored than the timing allows
  prompt_grow,  // at the end of the prompt, to the budget; every token after it is kept
  prompt_hold,  // at the end of the prompt, to the budget, and always after it
};

// "always", "prompt+grow", "prompt+hold".
std::string_view name_of(Compress compress);

// Where a stream stands: what the bounds of a contract may depend on.
struct Fed {
  std::uint64_t tokens = 0;  // that count
  std::uint64_t prompt = 0;  // of them, those of the first call
};

// For one Setup: the sizes are those that the subject uses for the sizes that the setup requests.
struct Contract {
  std::string name;

  // Sizes. budget 0: nothing is ever evicted.
  std::uint32_t sinks = 0;
  std::uint32_t recent = 0;
  std::uint32_t budget = 0;
  std::uint32_t largest_budget = 0;  // where layers or heads have budgets of their own: from the
                                     // budget up to this; any_depth: some evict nothing; 0: equal
  std::uint32_t mean_budget = 0;     // where the units of a layer share their budgets, what they
                                     // keep on average, and together exactly; 0: each has its own

  // Where the budget of each unit is known: those of a layer's units, then the next layer's, and
  // the same for every sequence; 0: that unit evicts nothing. `budget` is then the smallest that
  // is not 0, and largest_budget the largest. Empty: they are not said one by one.
  std::vector<std::uint32_t> budgets{};
  bool windows = false;  // each unit keeps sinks and the newest tokens alone, whatever its budget

  // Where layers attend to the rows of others: for each layer the one whose rows they are, its own
  // number where it stores rows itself. A layer without rows of its own reports its owner's rows
  // as they are, occupies nothing, and decides nothing about them. Empty: each has its own.
  std::vector<std::uint32_t> rows_from{};

  // With a ratio, the budget is so many thousandths of the prompt, rounded down, but at least
  // `budget`; where units share, the same of mean_budget. 0: the budget is in tokens.
  std::uint32_t ratio = 0;
  Compress compress = Compress::always;

  // What is declared. The defaults are the strictest.
  Timing timing = Timing::attend_then_trim;    // no more than the budget stored after a call
  std::uint32_t slack = 0;                     // of lazy
  Visibility visibility = Visibility::window;  // no query sees more than the budget
  TopPages top_pages{};  // of visibility=top-pages: what a query attends to; each head selects
  PositionMode positions = PositionMode::absolute;
  Unit unit = Unit::kv_head;
  std::uint32_t page = 1;           // rows that are stored and freed together
  bool pinned_first_page = false;   // the sinks occupy a page of their own
  bool shows_pages = false;         // queries may see what pages hold beside the rows to keep
  bool unordered = false;           // slots do not stand in stream order
  bool masks_evicted = false;       // evicted rows remain stored, and may be seen again
  bool may_evict_newest = false;    // the newest token may be evicted at once (TOVA)
  bool random = false;              // other seeds give other residents
  bool keeps_fewer = false;         // may store less than the budget once it is full
  bool evicts_ahead = false;        // between calls one row less is stored: the next token's place
  std::uint32_t longest_chunk = 0;  // longer ones are refused; 0: none is too long
  std::uint32_t first_chunk = 0;    // the longest that an empty cache takes: a prompt; any_depth:
                                    // none is too long; 0: none longer than longest_chunk
  std::uint32_t rollback = 0;       // tokens that truncate takes back; any_depth: all
  bool shifts = false;              // shift closes the gap behind the sinks; else it may refuse
  Precision precision = Precision::f32;
  std::uint32_t full_precision_recent = 0;  // with int8, int4: newest rows kept as they were fed
  std::uint32_t full_precision_sinks = 0;   // with int8, int4: first rows kept as they were fed
  bool wants_attention = false;             // decides by attention

  // Words of policies/registry/registry.h (uniform, age-geometric, chunk-invariant, constant-size,
  // score-driven, deterministic, admits-newcomers): promises beyond the strict reading.
  std::set<std::string, std::less<>> claims{};

  // The canonical spec whose residents the subject should have, token for token; empty: it names
  // none. Laws compare with the executable specification, properties/reference, not with our code.
  std::string reference{};

  // The most rows that may be stored once a call is over, after `tokens` were fed, the last `chunk`
  // of them in the last call.
  [[nodiscard]] std::uint64_t most_stored(std::uint64_t tokens, std::uint64_t chunk) const;

  // The fewest rows that must be stored then, unless keeps_fewer is declared.
  [[nodiscard]] std::uint64_t fewest_stored(std::uint64_t tokens, std::uint64_t chunk) const;

  // The most rows that query `index` of a chunk of `chunk` may see, own included, where `stored`
  // rows were stored before the call.
  [[nodiscard]] std::uint64_t most_visible(std::uint64_t stored,
                                           std::uint64_t chunk,
                                           std::uint64_t index) const;

  // The longest chunk that is accepted when `tokens` were fed and still count; 0: none is too long.
  [[nodiscard]] std::uint32_t longest_after(std::uint64_t tokens) const {
    if (tokens > 0 || first_chunk == 0) return longest_chunk;
    return first_chunk == any_depth ? 0 : first_chunk;
  }

  // How many of the newest tokens are stored between calls.
  [[nodiscard]] std::uint32_t recent_stored() const {
    return recent - (evicts_ahead && recent > 0 ? 1 : 0);
  }

  // Declares `budgets`, and what follows from it of budget and largest_budget.
  void set_budgets(std::vector<std::uint32_t> each);

  // What is declared of one unit, as a contract in which all units are equal. `index` counts as in
  // `budgets`, in which there must be one.
  [[nodiscard]] Contract of_unit(std::size_t index) const;

  // Declares `rows_from`; nothing where each layer names itself.
  void set_rows_from(std::vector<std::uint32_t> each);

  // The layer whose rows that layer attends to.
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t layer) const {
    return layer < rows_from.size() ? rows_from[layer] : layer;
  }

  // Whether that layer stores rows.
  [[nodiscard]] bool owns_rows(std::uint32_t layer) const { return owner_of(layer) == layer; }

  // Whether some layer attends to the rows of another.
  [[nodiscard]] bool shares_rows() const { return !rows_from.empty(); }

  // What is declared of a stream that stands there, as a contract without prompts: the budget is
  // in tokens, and after prompt_grow it has grown by the tokens after the prompt.
  [[nodiscard]] Contract at(const Fed& fed) const;

  // Whether nothing is evicted after the prompt.
  [[nodiscard]] bool grows() const { return compress == Compress::prompt_grow; }

  // Whether queries of that layer attend to selected pages instead of to all stored rows.
  [[nodiscard]] bool selects_in(std::uint32_t layer) const {
    return visibility == Visibility::top_pages && layer >= top_pages.dense_layers;
  }

  // Whether units may have budgets of their own.
  [[nodiscard]] bool uneven() const { return largest_budget > budget; }

  // Whether what one unit keeps depends on the others of its layer.
  [[nodiscard]] bool shares_budget() const { return mean_budget > 0; }

  // Whether no bound is known on the rows that a unit may store.
  [[nodiscard]] bool unlimited() const { return budget == 0 || largest_budget == any_depth; }

  [[nodiscard]] bool claims_to_be(std::string_view claim) const { return claims.contains(claim); }

  bool operator==(const Contract&) const = default;
};

// The contract of a spec run by our cache, with units for these layers and kv-heads.
Contract contract_of(const Spec& spec, const HeadGrid& grid = {});

// One line for each way in which `contract` deviates from the strictest reading, as
// "timing=lazy: up to 16 rows over the budget may be stored".
std::vector<std::string> deviations(const Contract& contract);

// "unknown claim 'uniformm'; did you mean 'uniform'?" if no law knows a claim: no law would check
// it, and the user would not notice. Empty: all are known.
std::string wrong_claims(const std::set<std::string, std::less<>>& claims);

// Why `rows_from` cannot be what it says: each entry is the layer's own number, or that of an
// earlier layer that names itself. Empty: it can.
std::string wrong_owners(std::span<const std::uint32_t> rows_from);

// A contract with one more declaration, and that declaration's words. A finding is judged again
// under it, to find which declaration would make the behaviour legal.
struct Relaxation {
  std::string declaration;  // "timing=attend-then-trim"
  Contract contract;
};

// Every contract one declaration away.
std::vector<Relaxation> relaxations(const Contract& contract);

}  // namespace kv::properties
