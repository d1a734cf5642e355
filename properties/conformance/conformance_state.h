// A stateful model for RapidCheck: calls on one cache and its forks, drawn one after the other, and
// a property of your own that is asked after each of them:
//
//   rc::check("what is stored was fed", [&] {
//     const auto setup = *rc::gen::arbitrary<kv::properties::Setup>();
//     kv::properties::check_calls(family, setup, {}, [](const kv::properties::History& so_far) {
//       RC_ASSERT(my_property(so_far.events.back()));
//       RC_ASSERT(kv::properties::broken_law(so_far) == "");
//     });
//   });
//
// Sequences have up to a hundred calls. They shrink to fewer and smaller calls, and RapidCheck
// prints each as `kvcheck check --reproduce` writes it. Commands of your own may be mixed with
// ours: derive them from rc::state::Command<CallsMade, CacheUnderCalls>.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/properties/case.h"
#include "kvcheck/properties/case_run.h"
#include "kvcheck/properties/conformance/conformance.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/family.h"
#include "kvcheck/properties/history.h"

namespace kv::properties {

// The model: what was asked of the cache. The cache may have refused some of it.
struct CallsMade {
  struct Branch {
    std::int64_t length = 0;   // tokens that were fed and count
    std::int32_t variant = 0;  // of the next ones; other ones than those that were taken back
  };

  Setup setup{};
  Contract contract{};
  std::vector<Branch> branches{{}};
  std::int32_t variants = 1;  // used so far
};

// The system: a run, and what is asked after each call.
struct CacheUnderCalls {
  CaseRun run;
  std::function<void(const History&)> after;
};

// Any call. A cache may refuse it; a call on a fork that was refused is left out.
class CacheCall : public rc::state::Command<CallsMade, CacheUnderCalls> {
 public:
  explicit CacheCall(const CallsMade& made) {
    using Kind = Call::Kind;
    call_.kind =
        *rc::gen::element(Kind::feed, Kind::feed, Kind::feed, Kind::feed, Kind::feed, Kind::fork,
                          Kind::truncate, Kind::reset, Kind::reorder, Kind::shift, Kind::snapshot);
    call_.branch =
        *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(made.branches.size()));
    const CallsMade::Branch& branch = made.branches[call_.branch];
    if (call_.kind == Kind::feed) {
      call_.amount = *rc::gen::inRange<std::int64_t>(1, longest(made, branch) + 1);
      call_.variant = branch.variant;
    } else if (call_.kind == Kind::truncate) {
      call_.amount = *rc::gen::inRange<std::int64_t>(0, branch.length + 1);
    } else if (call_.kind == Kind::shift) {
      call_.amount = *rc::gen::inRange<std::int64_t>(1, 4);
    } else if (call_.kind == Kind::reorder) {
      call_.from = *rc::gen::container<std::vector<std::uint32_t>>(
          made.setup.sequences, rc::gen::inRange<std::uint32_t>(0, made.setup.sequences));
    }
  }

  void checkPreconditions(const CallsMade& made) const override {
    RC_PRE(call_.branch < made.branches.size());
    const CallsMade::Branch& branch = made.branches[call_.branch];
    if (call_.kind == Call::Kind::feed) RC_PRE(call_.amount <= longest(made, branch));
    if (call_.kind == Call::Kind::truncate) RC_PRE(call_.amount <= branch.length);
    if (call_.kind == Call::Kind::fork) RC_PRE(made.branches.size() < most_branches);
  }

  void apply(CallsMade& made) const override {
    CallsMade::Branch& branch = made.branches[call_.branch];
    if (call_.kind == Call::Kind::feed) branch.length += call_.amount;
    if (call_.kind == Call::Kind::truncate) branch = {call_.amount, made.variants++};
    if (call_.kind == Call::Kind::reset) branch = {0, made.variants++};
    if (call_.kind == Call::Kind::fork) {
      made.branches.push_back({branch.length, made.variants++});
    }
  }

  void run(const CallsMade& /*before*/, CacheUnderCalls& system) const override {
    const std::size_t before = system.run.history().events.size();
    system.run.make(call_);
    const History& history = system.run.history();
    RC_ASSERT(history.failure == "");
    if (history.events.size() > before) system.after(history);
  }

  void show(std::ostream& out) const override { out << call_text(call_); }

  [[nodiscard]] const Call& call() const { return call_; }

 private:
  static constexpr std::size_t most_branches = 4;

  static std::int64_t longest(const CallsMade& made, const CallsMade::Branch& branch) {
    constexpr std::int64_t most = 11;
    const std::int64_t taken =
        made.contract.longest_after(static_cast<std::uint64_t>(branch.length));
    return taken == 0 ? most : std::min(most, taken);
  }

  Call call_;
};

// Draws calls and makes them on a fresh cache. To be used inside of a property; discards sizes that
// the cache refuses.
inline void check_calls(Family& family,
                        const Setup& setup,
                        const Stream& stream,
                        std::function<void(const History&)> after) {
  const auto contract = family.contract(setup);
  RC_PRE(contract.has_value());
  CacheUnderCalls system{{family, *contract, setup, stream, counter_draws(setup.seed)},
                         std::move(after)};
  rc::state::check(CallsMade{.setup = setup, .contract = *contract}, system,
                   rc::state::gen::execOneOfWithArgs<CacheCall>());
}

}  // namespace kv::properties
