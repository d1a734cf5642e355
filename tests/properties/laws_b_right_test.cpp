// No law on positions, rows, isolation, operations or attention accuses our policies in our cache,
// whatever the timing, visibility, positions, sharing and chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::vector<Law> tried_laws() {
  std::vector<Law> all;
  for (auto group : {position_laws, row_laws, isolation_laws, operation_laws, attention_laws}) {
    for (const Law& law : group) all.push_back(law);
  }
  return all;
}

// A small case with every kind of call, drawn from one number.
Case drawn_case(std::uint64_t seed) {
  Rng rng(seed, 1);
  std::uint32_t index = 0;
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(rng.below(bound, 0, index++));
  };
  Case what;
  what.setup = {.layers = 1 + below(2), .kv_heads = 1 + below(2), .group = 1 + below(3)};
  what.setup.sequences = 1 + below(2);
  what.setup.sinks = below(3);
  what.setup.recent = 1 + below(4);
  what.setup.budget = what.setup.sinks + what.setup.recent + below(4);
  what.setup.seed = seed;
  what.stream = {.kind = stream_kinds()[below(stream_kinds().size())],
                 .seed = below(1000),
                 .planted = below(20)};
  const auto feed = [&](std::uint32_t branch, std::int32_t variant) {
    const std::uint32_t amount = below(3) == 0 ? below(2 * what.setup.budget + 2) : below(3);
    what.calls.push_back(
        {.kind = Call::Kind::feed, .branch = branch, .amount = amount, .variant = variant});
  };
  const std::uint32_t count = 3 + below(8);
  for (std::uint32_t i = 0; i < count; ++i) feed(0, 0);
  Call call{.kind = static_cast<Call::Kind>(1 + below(6)), .amount = below(12)};
  if (call.kind == Call::Kind::reorder) {
    for (std::uint32_t i = 0; i < what.setup.sequences; ++i) {
      call.from.push_back(below(what.setup.sequences));
    }
  }
  what.calls.push_back(call);
  for (std::uint32_t i = 0; i < count; ++i) feed(below(2), static_cast<std::int32_t>(below(2)));
  return what;
}

std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const PolicyEntry& entry : policy_registry()) {
    std::string base(entry.name);
    if (entry.protection.middle != Protection::Middle::unbounded) base += ":budget=16";
    for (const std::string settings :
         {"", ";timing=trim-then-attend", ";timing=lazy:3", ";visibility=window;positions=in-cache",
          ";positions=in-cache", ";timing=trim-then-attend;visibility=window", ";unit=head",
          ";unit=layer", ";unit=model", ";budgets=pyramid:3", ";budgets=retrieval:0.1",
          ";budgets=adaptive:0.5", ";budgets=adaptive:0.2;unit=head;timing=lazy:3"}) {
      all.push_back(base + settings);
    }
  }
  for (const std::string once :
       {"snapkv:budget=16,select=once", "keyformer:budget=16,select=once"}) {
    for (const std::string alpha : {"0.2", "1"}) all.push_back(once + ";budgets=adaptive:" + alpha);
  }
  all.emplace_back("pages:budget=16,page=2,first-page=masked");
  return all;
}

// Tries every law on drawn cases; what the first finding says, or nothing.
std::string accusation(Family& family, std::uint64_t cases, std::uint64_t& seed) {
  static const std::vector<Law> laws = tried_laws();
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Case what = drawn_case(++seed);
    const auto contract = family.contract(what.setup);
    if (!contract) continue;
    for (const Law& law : laws) {
      if (law.why_not(*contract)) continue;
      const Attempt tried = attempt(law, family, what);
      if (tried.finding() == nullptr) continue;
      return std::string(law.id) + " in " + what.text() + "\n  expected " +
             tried.finding()->expected + "\n  seen " + tried.finding()->seen + " (event " +
             std::to_string(tried.finding()->event) + ", unit " +
             std::to_string(tried.finding()->unit) + ")";
    }
  }
  return {};
}

TEST(LawsB, AccuseNoPolicyInOurCache) {
  std::uint64_t seed = 0;
  for (const std::string& text : specs()) {
    const auto spec = parse_spec(text);
    if (!spec) {
      EXPECT_THAT(spec.error().message, AnyOf(HasSubstr("recent >= 1"), HasSubstr("budgets=")));
      continue;
    }
    const auto family = make_spec_family(*spec);
    EXPECT_EQ(accusation(*family, 2, seed), "") << text;
  }
}

TEST(LawsB, AccuseNoRightSubject) {
  std::uint64_t seed = 1000;
  for (const RightSubject& subject : right_subjects()) {
    EXPECT_EQ(accusation(*subject.make(), 2, seed), "") << subject.name;
  }
}

}  // namespace
}  // namespace kv::properties
