// How the budget is distributed over the layers and heads of a model.
//
//   budgets=equal             every unit may keep the spec's budget
//   budgets=pyramid:20        lower layers keep more, upper ones less; the sum is that of equal
//   budgets=retrieval:0.1+2.0 the named kv-heads (layer.head) keep everything; all others keep the
//                             spec's budget
//   budgets=adaptive:0.2      the units of a layer share the sum of equal budgets, by score
//
// pyramid distributes only the middle: every unit keeps its protected tokens. With a middle of m
// and L layers, layer l gets m (2 - 1/beta) - l m (2 - 2/beta) / (L - 1): in even steps from 2m -
// m/beta down to m/beta. Shares are rounded down. The tokens that rounding leaves are given one by
// one to the layers that lost the largest fractions, among equals to the lowest layer, so that all
// layers together keep exactly L * budget. With one layer this is equal. Source: PyramidKV (Cai et
// al., arXiv:2406.02069, section 3.2). Its code rounds every step down, so it keeps less in sum,
// and it limits a layer to the length of the prompt.
//
// retrieval is DuoAttention's split (Xiao et al., arXiv:2410.10819, section 2.1). There, trained
// gates determine which heads retrieve; here the user names them.
//
// adaptive:alpha distributes the middle anew at every decision. With a middle of m and H units in a
// layer, the H middles form one pool, newcomers included. Each unit keeps its floor(alpha m)
// highest scores. The others compete, until H m tokens of the whole pool are left, those with the
// highest scores. Among equal scores the older token is evicted, and among equally old tokens that
// of the last head. A full layer therefore keeps exactly H * budget. A unit keeps between
// floor(alpha m) and H m - (H - 1) floor(alpha m) tokens beside its protected ones, which are never
// in the pool. A layer decides when its units would decide alone: it trims once its units together
// store more than H times budget and slack. With alpha = 1 or one unit per layer this is equal. It
// needs a policy whose scores compare (policies/policy.h). Source: Ada-KV (Feng et al.,
// arXiv:2407.11550, algorithm 1, with a safeguard of 0.2), which decides once, after a prompt. The
// authors' code (FFY0/AdaKV) adds alpha of the equal share to 1 - alpha of the pool's share and
// rounds the sum of each unit, so that the sums need not add up. NVIDIA/kvpress's AdaKVPress has
// floors, as here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

struct Spec;

// A kv-head, by the numbers of its layer and head in the model.
struct KvHead {
  std::uint32_t layer = 0;
  std::uint32_t head = 0;

  // clang-tidy 14 takes the zero that this is compared with for a pointer.
  auto operator<=>(const KvHead&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Budgets {
  enum class Law { equal, pyramid, retrieval, adaptive };

  Law law = Law::equal;
  std::uint32_t beta = 0;           // for pyramid: at least 1
  std::vector<KvHead> retrieval{};  // for retrieval: sorted, each once
  std::uint32_t alpha = 0;          // for adaptive: in thousandths, up to 1000

  // Whether the units of a layer decide together.
  [[nodiscard]] bool shared() const { return law == Law::adaptive; }

  // The word that parse_budgets reads.
  [[nodiscard]] std::string text() const;

  bool operator==(const Budgets&) const = default;
};

// Errors name the wrong word, what was expected, and the nearest correct word.
Result<Budgets> parse_budgets(std::string_view word);

// An error if the spec does not allow its budgets: a policy without a budget or a middle, units
// that span the layers or heads to be distinguished, residents that must be the same in every unit,
// or scores that do not compare.
Result<void> check_budgets(const Spec& spec);

// The numbers of layers and kv-heads that share the budget. For a trace that records only some
// layers, `layers` is the number of its last recorded layer plus one.
struct HeadGrid {
  std::size_t layers = 1;
  std::size_t kv_heads = 1;
  std::size_t group = 1;  // query heads per kv-head
};

// An error if budgets=retrieval names a head that is not in the grid.
Result<void> check_grid(const Spec& spec, const HeadGrid& grid);

// The share of each layer under pyramid. The shares sum to `total` times the number of layers.
std::vector<std::uint32_t> pyramid(std::uint32_t total, std::uint32_t beta, std::size_t layers);

// For a shared budget: the least and the most tokens of the middle that one unit may keep.
std::uint32_t adaptive_floor(const Spec& spec);
std::uint32_t adaptive_most(const Spec& spec, const HeadGrid& grid);

// The spec of the unit that begins at this kv-head, with its layer. Its budget is the unit's own,
// with budgets=equal. For heads that keep everything its policy is dense, for shared budgets it is
// unchanged, and in the dense layers of visibility=top-pages its visibility is causal. Requires
// that both checks hold. Cost: O(layers log layers).
Spec unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit);

// The same with room for all that the unit may ever keep: the largest share of a shared budget.
Spec roomiest_unit_spec(const Spec& spec, const HeadGrid& grid, const KvHead& unit);

}  // namespace kv
