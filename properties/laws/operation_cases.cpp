#include "properties/laws/operation_cases.h"

#include <algorithm>

#include "properties/laws/scenario.h"

namespace kv {

// What is taken back is of variant 1. Where the cut is inside a chunk, that chunk is fed whole, and
// what goes on after it is of variant 1 instead, so that no token is fed twice.
Rollback rollback_of(const Case& what) {
  const Cut cut = cut_at(what, Call::Kind::truncate);
  std::int64_t fed = 0;
  for (const Call& call : cut.head) fed += call.kind == Call::Kind::feed ? call.amount : 0;
  Rollback rollback;
  rollback.length = std::clamp<std::int64_t>(cut.at.amount, 0, fed);
  rollback.junk = fed - rollback.length;
  if (rollback.junk == 0) throw NotTested{"nothing is taken back"};
  std::int64_t at = 0;
  std::int32_t tail_variant = 0;
  for (const Call& call : cut.head) {
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
  for (Call call : cut.tail) {
    call.variant = tail_variant;
    rollback.with.push_back(call);
    rollback.without.push_back(call);
  }
  return rollback;
}

}  // namespace kv
