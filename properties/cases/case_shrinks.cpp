// What a case may shrink to.
#include <algorithm>
#include <array>

#include "kvcheck/properties/cases/generate.h"

namespace kv::properties {
namespace {

using Kind = Call::Kind;

bool is_feed(const Call& call) {
  return call.kind == Kind::feed;
}

// Without the calls [begin, begin + count). The branches that a dropped fork made go with all that
// happened on them, and later ones are renumbered.
Case without(const Case& what, std::size_t begin, std::size_t count) {
  Case result{what.setup, what.stream, {}};
  constexpr std::uint32_t gone = 0xffffffff;
  std::vector<std::uint32_t> number = {0};  // of each branch, once renumbered
  std::uint32_t next = 1;
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    Call call = what.calls[i];
    if (call.branch >= number.size()) continue;
    const bool dropped = (i >= begin && i < begin + count) || number[call.branch] == gone;
    if (call.kind == Kind::fork) number.push_back(dropped ? gone : next++);
    if (dropped) continue;
    call.branch = number[call.branch];
    result.calls.push_back(std::move(call));
  }
  return result;
}

// Without the fork at `fork`: what was done on its copy is done on the parent. Of the parent's own
// later calls nothing remains, nor of the forks among them, unless it keeps them.
Case on_parent(const Case& what, std::size_t fork, bool keeps) {
  Case result{what.setup, what.stream, {}};
  constexpr std::uint32_t gone = 0xffffffff;
  const std::uint32_t parent = what.calls[fork].branch;
  std::vector<std::uint32_t> number = {0};  // of each branch, once renumbered
  std::uint32_t next = 1;
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    Call call = what.calls[i];
    if (call.branch >= number.size()) continue;
    const bool dropped =
        number[call.branch] == gone || (!keeps && i > fork && call.branch == parent);
    if (i == fork) {
      number.push_back(number[parent]);
      continue;
    }
    if (call.kind == Kind::fork) number.push_back(dropped ? gone : next++);
    if (dropped) continue;
    call.branch = number[call.branch];
    result.calls.push_back(std::move(call));
  }
  return result;
}

// Feeds of the same branch and variant that follow each other become one, wherever or at `only`.
Case merged(const Case& what, std::optional<std::size_t> only) {
  Case result{what.setup, what.stream, {}};
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    const Call& call = what.calls[i];
    if (!result.calls.empty() && is_feed(call) && is_feed(result.calls.back()) &&
        call.branch == result.calls.back().branch && call.variant == result.calls.back().variant &&
        (!only || *only == i)) {
      result.calls.back().amount += call.amount;
    } else {
      result.calls.push_back(call);
    }
  }
  return result;
}

class Shrinks {
 public:
  explicit Shrinks(const Case& what) : what_(what) {}

  void fewer_calls() {
    const std::size_t calls = what_.calls.size();
    for (std::size_t length = (calls + 1) / 2; length > 0; length /= 2) {
      for (std::size_t end = calls; end >= length && end > 0; end -= std::min(end, length)) {
        add(without(what_, end - length, length));
      }
    }
  }

  void fewer_forks() {
    for (std::size_t i = 0; i < what_.calls.size(); ++i) {
      if (what_.calls[i].kind != Kind::fork) continue;
      add(on_parent(what_, i, false));
      add(on_parent(what_, i, true));
    }
  }

  void merges() {
    add(merged(what_, {}));
    for (std::size_t i = what_.calls.size(); i-- > 1;) add(merged(what_, i));
  }

  void sizes() {
    const Setup& setup = what_.setup;
    for (const std::uint32_t to : towards(setup.budget, 1)) size({.budget = setup.budget - to});
    for (const std::uint32_t to : towards(setup.recent, 0)) {
      size({.recent = setup.recent - to, .budget = setup.recent - to});
      size({.recent = setup.recent - to});
    }
    for (const std::uint32_t to : towards(setup.sinks, 0)) {
      size({.sinks = setup.sinks - to, .budget = setup.sinks - to});
      size({.sinks = setup.sinks - to});
    }
  }

  // One resident less, with as many tokens fewer: what fails at an exact length only.
  void tighter() {
    if (what_.setup.budget < 2) return;
    for (const std::int64_t fewer : {1, 2, 3}) {
      for (std::size_t i = what_.calls.size(); i-- > 0;) {
        if (!is_feed(what_.calls[i]) || what_.calls[i].amount <= fewer) continue;
        Case next = what_;
        --next.setup.budget;
        next.calls[i].amount -= fewer;
        if (fits(next.setup)) add(std::move(next));
        break;
      }
    }
  }

  // A smaller budget with shorter chunks: each by as many tokens, or in proportion.
  void sizes_and_chunks() {
    const std::uint32_t budget = what_.setup.budget;
    for (const std::uint32_t to : towards(budget, 1)) {
      for (const bool in_proportion : {false, true}) {
        Case next = what_;
        next.setup.budget = to;
        next.setup.sinks = std::min(next.setup.sinks, to);
        next.setup.recent = std::min(next.setup.recent, to - next.setup.sinks);
        for (Call& call : next.calls) {
          if (!is_feed(call) || call.amount < 2) continue;
          const std::int64_t shorter =
              in_proportion ? call.amount * to / budget : call.amount - (budget - to);
          call.amount = std::max<std::int64_t>(1, shorter);
        }
        add(std::move(next));
      }
    }
  }

  void shape() {
    for (std::uint32_t Setup::*field :
         {&Setup::layers, &Setup::kv_heads, &Setup::group, &Setup::sequences}) {
      for (const std::uint32_t to : towards(what_.setup.*field, 1)) {
        change([&](Case& next) {
          next.setup.*field = to;
          if (field == &Setup::sequences) narrow_orders(next);
        });
      }
    }
  }

  void subject_seed() {
    change([](Case& next) { next.setup.seed = 0; });
  }

  void amounts() {
    for (std::size_t i = what_.calls.size(); i-- > 0;) {
      const Call& call = what_.calls[i];
      if (is_feed(call) || call.amount > 0) {
        const std::uint32_t least = is_feed(call) ? 1 : 0;
        for (const std::uint32_t to : towards(static_cast<std::uint32_t>(call.amount), least)) {
          set_amount(i, to);
        }
      } else if (call.amount < -1) {
        set_amount(i, -1);
      }
    }
  }

  // Other content differs from the plain one, variant 0, only after something was taken back.
  void variants() {
    change([](Case& next) {
      for (Call& call : next.calls) call.variant = 0;
    });
    for (std::size_t i = what_.calls.size(); i-- > 0;) {
      for (const std::uint32_t to :
           towards(static_cast<std::uint32_t>(what_.calls[i].variant), 0)) {
        change([&](Case& next) { next.calls[i].variant = static_cast<std::int32_t>(to); });
      }
    }
  }

  void stream() {
    constexpr std::array<StreamKind, 8> plain_first = {
        StreamKind::ties,    StreamKind::recency, StreamKind::sink,     StreamKind::random,
        StreamKind::one_hot, StreamKind::drift,   StreamKind::unscored, StreamKind::hitter};
    for (const StreamKind kind : plain_first) {
      if (kind == what_.stream.kind) break;
      change([&](Case& next) {
        next.stream.kind = kind;
        next.stream.planted = 0;
      });
    }
    change([](Case& next) { next.stream.seed = 0; });
    for (const std::uint32_t to : towards(what_.stream.planted, 0)) {
      change([&](Case& next) { next.stream.planted = to; });
    }
  }

  std::vector<Case> all;

 private:
  // Smaller values of a number: the least, the half, one less; without repetition.
  static std::vector<std::uint32_t> towards(std::uint32_t value, std::uint32_t least) {
    std::vector<std::uint32_t> smaller;
    for (const std::uint32_t to : {least, value / 2, value - 1}) {
      if (value > least && to >= least && to < value &&
          std::ranges::find(smaller, to) == smaller.end()) {
        smaller.push_back(to);
      }
    }
    return smaller;
  }

  [[nodiscard]] bool fits(const Setup& setup) const {
    const auto tight = [](const Setup& s) { return s.sinks + s.recent <= s.budget; };
    if (setup.budget == 0 && what_.setup.budget > 0) return false;  // would mean no limit
    return tight(setup) || !tight(what_.setup);
  }

  // Takes these off the sizes.
  void size(const Setup& less) {
    Case next = what_;
    next.setup.sinks -= less.sinks;
    next.setup.recent -= less.recent;
    next.setup.budget -= std::min(less.budget, next.setup.budget);
    if (fits(next.setup)) add(std::move(next));
  }

  // Orders of sequences that no longer exist become orders of those that do; hostile ones stay.
  void narrow_orders(Case& next) const {
    for (Call& call : next.calls) {
      const bool hostile = call.from.size() != what_.setup.sequences ||
                           std::ranges::any_of(call.from, [&](std::uint32_t from) {
                             return from >= what_.setup.sequences;
                           });
      if (call.kind != Kind::reorder || hostile) continue;
      call.from.resize(next.setup.sequences);
      for (std::uint32_t& from : call.from) from = std::min(from, next.setup.sequences - 1);
    }
  }

  void set_amount(std::size_t index, std::int64_t amount) {
    change([&](Case& next) { next.calls[index].amount = amount; });
  }

  template <typename Change>
  void change(const Change& change) {
    Case next = what_;
    change(next);
    add(std::move(next));
  }

  void add(Case next) {
    if (next != what_) all.push_back(std::move(next));
  }

  const Case& what_;
};

}  // namespace

std::vector<Case> simpler_cases(const Case& what, bool takes_sizes) {
  Shrinks shrinks(what);
  shrinks.fewer_calls();
  shrinks.fewer_forks();
  shrinks.merges();
  if (takes_sizes) {
    shrinks.shape();
    shrinks.sizes();
  }
  shrinks.amounts();
  shrinks.variants();
  if (takes_sizes) shrinks.tighter();
  if (takes_sizes) shrinks.sizes_and_chunks();
  shrinks.stream();
  shrinks.subject_seed();
  return std::move(shrinks.all);
}

}  // namespace kv::properties
