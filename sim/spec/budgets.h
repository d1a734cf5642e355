// How the budget is dealt over the layers and heads of a model.
//
//   budgets=equal             every unit may keep the spec's budget
//   budgets=pyramid:20        lower layers more, upper ones less; together what equal ones keep
//   budgets=retrieval:0.1+2.0 the kv-heads that are named, as layer.head, keep everything; all
//                             others keep the spec's budget
//   budgets=adaptive:0.2      the units of a layer share what equal ones keep, by score
//
// pyramid deals the middle alone: the protected tokens are every unit's floor. With a middle of m
// and L layers, layer l gets m (2 - 1/beta) - l m (2 - 2/beta) / (L - 1): in even steps from
// 2m - m/beta down to m/beta. Shares are rounded down, and what that leaves goes one by one to
// those that lost the most, of equals to the lowest layer, so that all layers together keep exactly
// L * budget. Source: PyramidKV (Cai et al., arXiv:2406.02069, section 3.2), whose code rounds
// every step down and so keeps less in sum, and which caps a layer at its prompt's length. One
// layer is equal.
//
// retrieval is DuoAttention's split (Xiao et al., arXiv:2410.10819, section 2.1); which heads
// retrieve is measured there by training gates, and given by hand here.
//
// adaptive:alpha deals the middle anew at every decision. With a middle of m and H units in a
// layer, the H middles are one pool, newcomers included. Each unit keeps its floor(alpha m) highest
// scores, and the others compete: of the whole pool H m stay, those with the highest scores. Among
// equals the older goes, and of those equally old the one of the last head. So a layer keeps
// exactly H * budget once it is full, and a unit between its floor and H m - (H - 1) floor(alpha m)
// beside its protected tokens, which are never in the pool. A layer decides when its units would
// decide alone: they trim once together they store more than H times budget and slack. alpha = 1
// and one unit a layer are equal. It needs a policy whose scores compare (policies/policy.h).
// Source: Ada-KV (Feng et al., arXiv:2407.11550, algorithm 1, whose safeguard is 0.2); there once,
// after a prompt. The authors' code (FFY0/AdaKV) adds alpha of the equal share to 1 - alpha of the
// pool's and rounds each unit's sum, which need not add up; NVIDIA/kvpress's AdaKVPress has floors,
// as here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

struct Spec;

// A kv-head by the model's numbers.
struct KvHead {
  std::uint32_t layer = 0;
  std::uint32_t head = 0;

  // clang-tidy 14 takes the zero that this is compared with for a pointer.
  auto operator<=>(const KvHead&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Budgets {
  enum class Law { equal, pyramid, retrieval, adaptive };

  Law law = Law::equal;
  std::uint32_t beta = 0;           // of pyramid, at least 1
  std::vector<KvHead> retrieval{};  // of retrieval: in order, each once
  std::uint32_t alpha = 0;          // of adaptive, in thousandths: up to 1000

  // Whether the units of a layer decide together.
  [[nodiscard]] bool shared() const { return law == Law::adaptive; }

  // The word that parse_budgets reads.
  [[nodiscard]] std::string text() const;

  bool operator==(const Budgets&) const = default;
};

// Errors name the bad word, what was expected, and the nearest right word.
Result<Budgets> parse_budgets(std::string_view word);

// Nothing, or why the spec's budgets cannot be dealt by their law: without a budget or a middle,
// over units that span what they tell apart, with residents that must be the same everywhere; or of
// scores that do not compare.
Result<void> check_budgets(const Spec& spec);

// How many layers and kv-heads there are to deal to. A trace that records some layers only counts
// as many as its last one's number says.
struct HeadGrid {
  std::size_t layers = 1;
  std::size_t kv_heads = 1;
  std::size_t group = 1;  // query heads per kv-head
};

// Nothing, or an error that names the head that retrieval names and the grid has not.
Result<void> check_grid(const Spec& spec, const HeadGrid& grid);

// What each layer's share of `total` times the number of layers is: pyramid's deal, exactly.
std::vector<std::uint32_t> pyramid(std::uint32_t total, std::uint32_t beta, std::size_t layers);

// Of a shared budget: what a unit keeps of its middle whatever the others hold, and at most.
std::uint32_t adaptive_floor(const Spec& spec);
std::uint32_t adaptive_most(const Spec& spec, const HeadGrid& grid);

// The spec of the unit that begins at this kv-head, with its layer: an equal-budget one of the
// unit's own size; for heads that keep everything, dense; where budgets are shared, as it is; in
// the dense layers of visibility=top-pages, causal. Requires that both checks hold. Cost: O(layers
// log layers).
Spec unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit);

// The same with room for whatever the unit may ever keep: of a shared budget the largest share.
Spec roomiest_unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit);

}  // namespace kv
