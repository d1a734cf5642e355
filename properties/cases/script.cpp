#include "kvcheck/properties/cases/script.h"

#include <algorithm>

#include "kvcheck/properties/cases/long_streams.h"
#include "kvcheck/properties/contract.h"

namespace kv::properties {
namespace {

using Kind = Call::Kind;

// Sizes at which caches break.
struct Edges {
  explicit Edges(const Contract& contract)
      : sinks(contract.sinks),
        recent(contract.recent),
        budget(contract.budget),
        slack(contract.timing == Timing::lazy && contract.budget > 0 ? contract.slack : 0),
        longest(contract.longest_chunk),
        longest_first(contract.longest_after(0)),
        has_prompt(contract.compress != Compress::always),
        for_a_row(contract.ratio > 0 ? (1000 + contract.ratio - 1) / contract.ratio : 1) {
    if (contract.visibility != Visibility::top_pages) return;
    recent = contract.top_pages.page;
    budget = contract.top_pages.attended;
  }

  // A chunk of one of the sizes at which something changes, at least 1, and as long as an empty
  // cache takes it.
  std::uint32_t first(Drawer& draw) const {
    const std::uint32_t window = recent > 0 ? recent : budget;
    std::vector<std::uint32_t> sizes = {1, 2, 3, window, window + 1, std::max(window, 2U) - 1};
    sizes.insert(sizes.end(),
                 {sinks + 1, budget, budget + 1, 2 * budget + 1, std::max(budget, 2U) - 1});
    if (slack > 0) sizes.push_back(slack + 1);
    return legal(draw.pick(sizes), true);
  }

  // A prompt: mostly longer than what is kept of it, at the lengths at which a share grows.
  std::uint32_t prompt(Drawer& draw) const {
    if (draw.chance(1, 4)) return first(draw);
    const std::uint32_t kept = for_a_row * budget;
    return legal(draw.pick(std::vector{budget + 1, kept + 1, kept + for_a_row, 2 * kept + 1}),
                 true);
  }

  // The same, and no longer than any call may be.
  std::uint32_t chunk(Drawer& draw) const { return legal(first(draw)); }

  // Tokens of a whole stream: past the second filling of the budget, and past the slack, in most
  // cases.
  std::uint32_t stream(Drawer& draw) const {
    if (budget == 0) return 1 + draw.below(12);
    const std::uint32_t enough = std::max(2 * budget * for_a_row, budget + slack) + 1;
    if (budget > 256) return enough + draw.below(8);
    const std::uint32_t which = draw.below(16);
    if (which == 0) {
      return std::max(1U, draw.pick(std::vector<std::uint32_t>{1, sinks, sinks + 1, recent, 2}));
    }
    if (which < 5) {  // a token less than can be stored, to two more
      return std::max(2U, budget + (which % 2 == 0 ? slack : 0) + which) - 2;
    }
    if (which == 5) return 2 * budget;
    return enough + draw.below(2 * budget + 4);
  }

  [[nodiscard]] std::uint32_t legal(std::uint32_t chunk, bool is_first = false) const {
    const std::uint32_t size = std::max(1U, chunk);
    const std::uint32_t most = is_first ? longest_first : longest;
    return most == 0 ? size : std::min(size, most);
  }

  std::uint32_t sinks;
  std::uint32_t recent;
  std::uint32_t budget;
  std::uint32_t slack;  // rows beyond the budget that may stay
  std::uint32_t longest;
  std::uint32_t longest_first;
  bool has_prompt;
  std::uint32_t for_a_row;  // tokens of a prompt for each row of the budget
};

// The chunks of a stream of `tokens` tokens.
std::vector<std::uint32_t> draw_chunks(Drawer& draw, const Edges& edges, std::uint32_t tokens) {
  std::vector<std::uint32_t> chunks;
  std::uint32_t left = tokens;
  const auto take = [&](std::uint32_t size) {
    const std::uint32_t chunk = std::min(left, edges.legal(size, chunks.empty()));
    if (chunk > 0) chunks.push_back(chunk);
    left -= chunk;
  };
  const std::uint32_t way = draw.below(6);
  // Token by token is dear where the budget is large: there it follows a prompt.
  constexpr std::uint32_t most_single = 64;
  if (way == 0 && tokens > most_single) take(tokens - most_single / 2);
  if (way == 1) take(tokens);
  if (edges.has_prompt) take(edges.prompt(draw));
  if (way == 2 || way == 3) take(edges.first(draw));
  const std::uint32_t constant = way == 4 ? edges.chunk(draw) : 1;
  constexpr std::size_t most_calls = 80;
  while (left > 0) {
    if (chunks.size() >= most_calls) {
      take(left);
    } else if (way == 0 || way == 2 || way == 4) {
      take(constant);
    } else {
      take(edges.chunk(draw));
    }
  }
  return chunks;
}

// Calls written one after the other, with what the subject would hold if it did them all.
class Script {
 public:
  Script(Drawer& draw, const Setup& setup, const Edges& edges)
      : draw_(draw), setup_(setup), edges_(edges) {}

  // The first stream of branch 0 is taken back by a reset: its tokens are of another variant.
  void begin_with_junk() { branches_[0].variant = next_variant_++; }

  void feed(std::uint32_t branch, std::uint32_t tokens, std::int32_t variant) {
    // Relations feed what a case feeds in another order, so only its first chunk may be one that
    // an empty cache alone takes. The rest of what was drawn follows in legal chunks.
    do {
      const std::uint32_t chunk = any_fed_ ? std::min(tokens, edges_.legal(tokens)) : tokens;
      add({.kind = Kind::feed, .branch = branch, .amount = chunk, .variant = variant});
      branches_[branch].length += chunk;
      branches_[branch].fed = true;
      any_fed_ |= chunk > 0;
      tokens -= chunk;
    } while (tokens > 0);
  }

  void feed(std::uint32_t tokens) {
    const std::uint32_t branch = any();
    feed(branch, tokens, branches_[branch].variant);
  }

  void perform(Kind kind) {
    switch (kind) {
      case Kind::feed:
        return feed(any(), 0, 0);
      case Kind::fork:
        return fork();
      case Kind::truncate:
        return truncate();
      case Kind::reset:
        return reset();
      case Kind::reorder:
        return add({.kind = kind, .branch = any(), .from = order()});
      case Kind::shift:
        return add({.kind = kind,
                    .branch = any(),
                    .amount = draw_.pick(std::vector<std::int64_t>{1, 1, 2, 3, edges_.recent,
                                                                   edges_.budget, 0, -2, 100000})});
      case Kind::snapshot:
        return add({.kind = kind, .branch = any()});
    }
  }

  // Every branch goes on after the last fork.
  void finish() {
    for (std::uint32_t i = 0; i < branches_.size(); ++i) {
      if (!branches_[i].fed) feed(i, edges_.chunk(draw_), branches_[i].variant);
    }
  }

  std::vector<Call> calls;

 private:
  struct Branch {
    std::int64_t length = 0;
    std::int32_t variant = 0;
    bool fed = false;
  };

  std::uint32_t any() { return draw_.below(static_cast<std::uint32_t>(branches_.size())); }

  void add(Call call) { calls.push_back(std::move(call)); }

  void fork() {
    constexpr std::size_t most_branches = 3;
    if (branches_.size() >= most_branches) return;
    const std::uint32_t parent = any();
    add({.kind = Kind::fork, .branch = parent});
    branches_[parent].fed = false;
    Branch child = branches_[parent];
    child.variant = next_variant_++;
    branches_.push_back(child);
  }

  // Usually junk is fed and taken back; else real tokens, or lengths that must be refused.
  void truncate() {
    const std::uint32_t at = any();
    const std::int64_t length = branches_[at].length;
    const std::uint32_t way = draw_.below(8);
    if (way < 5) {
      feed(at, edges_.chunk(draw_), next_variant_++);
      return truncate_to(at, length);
    }
    if (way == 5) {
      const std::int64_t back = draw_.pick(
          std::vector<std::int64_t>{1, 2, edges_.recent, edges_.budget, length, length - 1});
      truncate_to(at, std::clamp<std::int64_t>(length - back, 0, length));
      return feed(at, edges_.chunk(draw_), branches_[at].variant);
    }
    add({.kind = Kind::truncate,
         .branch = at,
         .amount = draw_.pick(std::vector<std::int64_t>{-5, -1, length + 1, length + 100, length,
                                                        length + (std::int64_t{1} << 32)})});
  }

  void truncate_to(std::uint32_t branch, std::int64_t length) {
    add({.kind = Kind::truncate, .branch = branch, .amount = length});
    branches_[branch].length = length;
  }

  void reset() {
    const std::uint32_t at = any();
    add({.kind = Kind::reset, .branch = at});
    branches_[at].length = 0;
    branches_[at].variant = at == 0 ? 0 : next_variant_++;
    branches_[at].fed = false;
  }

  // Where each sequence comes from; in one of eight cases an order that must be refused.
  std::vector<std::uint32_t> order() {
    const bool hostile = draw_.chance(1, 8);
    std::vector<std::uint32_t> from;
    const std::uint32_t size = setup_.sequences + (hostile && draw_.chance(1, 2) ? 1 : 0);
    for (std::uint32_t i = 0; i < size; ++i) from.push_back(draw_.below(setup_.sequences));
    if (hostile && size == setup_.sequences) from.back() = setup_.sequences;
    return from;
  }

  Drawer& draw_;
  const Setup& setup_;
  const Edges& edges_;
  std::vector<Branch> branches_{1};
  std::int32_t next_variant_ = 1;
  bool any_fed_ = false;
};

// The kinds of calls of one case: each requested kind with probability 3/4, but at least one; and
// now and then a feed of nothing.
std::vector<Kind> draw_kinds(Drawer& draw, const Wants& wants) {
  std::vector<Kind> requested;
  const auto want = [&](bool is_requested, Kind kind) {
    if (is_requested) requested.push_back(kind);
  };
  want(wants.forks, Kind::fork);
  want(wants.truncates, Kind::truncate);
  want(wants.resets, Kind::reset);
  want(wants.reorders, Kind::reorder);
  want(wants.shifts, Kind::shift);
  want(wants.snapshots, Kind::snapshot);
  std::vector<Kind> kinds;
  for (const Kind kind : requested) {
    const std::uint32_t times = draw.chance(3, 4) ? 1 + draw.below(2) : 0;
    kinds.insert(kinds.end(), times, kind);
  }
  if (kinds.empty() && !requested.empty()) kinds.push_back(draw.pick(requested));
  if (draw.chance(1, 10)) kinds.push_back(Kind::feed);
  return kinds;
}

}  // namespace

std::vector<Call> draw_calls(Drawer& draw,
                             const Wants& wants,
                             const Setup& setup,
                             const Contract& contract,
                             const Length& length) {
  const Edges edges(contract);
  const auto chunks = length.tokens > 0
                          ? draw_long_chunks(draw, length, std::max(1U, contract.budget), contract)
                          : draw_chunks(draw, edges, edges.stream(draw));
  const std::vector<Kind> kinds = draw_kinds(draw, wants);
  std::vector<std::vector<Kind>> before(chunks.size() + 1);
  for (const Kind kind : kinds) {
    before[draw.below(static_cast<std::uint32_t>(before.size()))].push_back(kind);
  }
  Script script(draw, setup, edges);
  if (std::ranges::find(kinds, Kind::reset) != kinds.end()) script.begin_with_junk();
  if (draw.chance(1, 16)) script.feed(0, 0, 0);
  for (std::size_t i = 0; i <= chunks.size(); ++i) {
    for (const Kind kind : before[i]) script.perform(kind);
    if (i < chunks.size()) script.feed(chunks[i]);
  }
  script.finish();
  return std::move(script.calls);
}

}  // namespace kv::properties
