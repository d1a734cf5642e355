#include <algorithm>
#include <utility>

#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

// Single tokens behind a tail until it feeds `tokens`: what a rollback left behind shows only when
// a token has to be evicted.
std::vector<Call> long_enough(std::vector<Call> tail, std::int64_t tokens) {
  for (const Call& call : tail) tokens -= call.kind == Call::Kind::feed ? call.amount : 0;
  for (; tokens > 0; --tokens) tail.push_back(feed_call(1));
  return tail;
}

bool truncates_first(const Call& call) {
  return call.kind == Call::Kind::truncate && call.branch == 0;
}

// Without the truncates before the first that takes something back and leaves something, if there
// is one: to take back everything is little more than a reset.
Case telling(const Case& what) {
  std::int64_t fed = 0;
  for (auto call = what.calls.begin(); call != what.calls.end(); ++call) {
    if (call->kind == Call::Kind::feed) fed += call->amount;
    if (!truncates_first(*call) || call->amount <= 0 || call->amount >= fed) continue;
    std::vector<Call> calls(what.calls.begin(), call);
    std::erase_if(calls, truncates_first);
    calls.insert(calls.end(), call, what.calls.end());
    return with_calls(what, std::move(calls));
  }
  return what;
}

}  // namespace

// What is taken back is of variant 1. Where the cut is inside a chunk, that chunk is fed whole, and
// what goes on after it is of variant 1 instead, so that no token is fed twice.
Result<Rollback> rollback_of(const Case& what) {
  const auto cut = cut_at(telling(what), Call::Kind::truncate);
  if (!cut) return cut.error();
  const auto fed = static_cast<std::int64_t>(with_calls(what, cut->head).tokens());
  Rollback rollback;
  rollback.length = std::clamp<std::int64_t>(cut->at.amount, 0, fed);
  if (rollback.length == fed) return malformed("nothing is taken back");
  std::int64_t at = 0;
  std::int32_t tail_variant = 0;
  for (const Call& call : cut->head) {
    if (call.kind != Call::Kind::feed || call.amount == 0) continue;
    const bool whole = at + call.amount <= rollback.length;
    const bool straddles = !whole && at < rollback.length;
    rollback.with.push_back(feed_call(call.amount, whole || straddles ? 0 : 1));
    if (whole) rollback.without.push_back(feed_call(call.amount));
    if (straddles) {
      rollback.without.push_back(feed_call(rollback.length - at));
      tail_variant = 1;
    }
    at += call.amount;
  }
  rollback.at = rollback.with.size();
  rollback.from = rollback.without.size();
  rollback.with.push_back({.kind = Call::Kind::truncate, .amount = rollback.length});
  for (Call call : long_enough(cut->tail, what.setup.budget)) {
    call.variant = tail_variant;
    rollback.with.push_back(call);
    rollback.without.push_back(call);
  }
  return rollback;
}

}  // namespace kv::properties
