// No law on rows accuses our own policies, whatever their timing, sharing, sizes and calls; and
// every law speaks to some of these cases.
#include "kvcheck/base/random/rng.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/properties/tagged/tagged_family.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/policies/every_policy.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}

  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(rng_.below(bound, at_++));
  }

  template <typename T, std::size_t n>
  T pick(const T (&from)[n]) {
    return from[below(n)];
  }

 private:
  Rng rng_;
  Position at_ = 0;
};

std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const PolicyEntry& policy : policy_registry()) {
    std::vector<std::string> heads = {std::string(policy.name) + ":"};
    if (policy.protection.middle == Protection::Middle::unbounded) heads = {"dense"};
    for (const Parameter& parameter : policy.parameters) {
      for (const std::string& value : other_values(parameter)) {
        heads.push_back(std::string(policy.name) + ":" + std::string(parameter.name) + "=" + value +
                        ",");
      }
    }
    for (const std::string& head : heads) {
      for (const std::string timing :
           {"attend-then-trim", "trim-then-attend", "lazy:0", "lazy:5"}) {
        for (const std::string visibility : {"causal", "window"}) {
          for (const std::string unit : {"kv-head", "head", "layer", "model"}) {
            const bool rare = unit != "kv-head" && timing == "lazy:0";
            if (rare) continue;
            const std::string sizes = head == "dense" ? "" : "recent=4,budget=";
            const std::string budget = policy.name == "window" ? "4" : "8";
            all.push_back(head + (head == "dense" ? "" : sizes + budget) + ";timing=" + timing +
                          ";visibility=" + visibility + ";unit=" + unit);
          }
        }
      }
    }
  }
  for (const std::string unit : {"kv-head", "head"}) {
    for (const std::string policy :
         {"h2o:", "tova:", "snapkv:", "snapkv:select=once,", "keyformer:", "keyformer:select=once,",
          "expected-attention:"}) {
      all.push_back(policy + "recent=4,budget=8;budgets=adaptive:0.5;unit=" + unit);
      all.push_back(policy + "recent=4,budget=8;budgets=adaptive:0.2;timing=lazy:2;unit=" + unit);
      all.push_back(policy + "recent=4,budget=8;budgets=adaptive:1;unit=" + unit);
    }
    for (const std::string first : {"pinned", "masked", "freed"}) {
      all.push_back("pages:page=2,first-page=" + first + ",recent=4,budget=12;unit=" + unit);
    }
    for (const std::string pages : {"4/2/0", "8/4/0", "6/2/1", "4/4/0", "2/1/0"}) {
      all.push_back("dense;visibility=top-pages:" + pages + ";unit=" + unit);
      all.push_back("dense;visibility=top-pages:" + pages + ";chunk=3;unit=" + unit);
    }
  }
  return all;
}

Setup some_setup(Dice& dice) {
  Setup setup;
  setup.sinks = dice.below(4);
  setup.recent = dice.below(7);
  setup.budget = setup.sinks + setup.recent + dice.below(6);
  setup.layers = 1 + dice.below(2);
  setup.kv_heads = 1 + dice.below(2);
  setup.group = 1 + dice.below(2);
  setup.sequences = 1 + dice.below(2);
  setup.seed = dice.below(1000);
  return setup;
}

Stream some_stream(Dice& dice) {
  const auto kinds = stream_kinds();
  return {.kind = kinds[dice.below(static_cast<std::uint32_t>(kinds.size()))],
          .seed = dice.below(1000),
          .planted = dice.below(12)};
}

Call some_call(Dice& dice, const Setup& setup, std::uint32_t branch) {
  Call call{.kind = Call::Kind::feed, .branch = dice.below(branch + 1)};
  const std::uint32_t kind = dice.below(20);
  call.amount = dice.pick({1U, 1U, 1U, 2U, 3U, setup.recent, setup.recent + 1, setup.budget + 2});
  if (kind == 0) call.kind = Call::Kind::fork;
  if (kind == 1) call.kind = Call::Kind::reset;
  if (kind == 2) call.kind = Call::Kind::truncate;
  if (kind == 3) call.kind = Call::Kind::snapshot;
  if (kind == 4) call.kind = Call::Kind::reorder;
  if (kind == 5) call.variant = 1;
  if (kind == 4) {
    for (std::uint32_t i = 0; i < setup.sequences; ++i) {
      call.from.push_back(dice.below(setup.sequences));
    }
  }
  return call;
}

Case some_case(Dice& dice) {
  Case what{some_setup(dice), some_stream(dice), {}};
  const bool plain = dice.below(2) == 0;
  std::uint32_t branches = 0;
  while (what.calls.size() < 24) {
    const Call call = some_call(dice, what.setup, branches);
    if (plain && (call.kind != Call::Kind::feed || call.branch > 0)) continue;
    if (call.kind == Call::Kind::fork) ++branches;
    what.calls.push_back(call);
  }
  return what;
}

// Tries every law on a few cases; false once one is broken.
bool innocent(const std::string& name,
              Family& family,
              int cases,
              Dice& dice,
              std::map<std::string_view, int>& spoke) {
  static const std::vector<Law> laws = laws_on_rows();
  for (int i = 0; i < cases; ++i) {
    const Case what = some_case(dice);
    for (const Law& law : laws) {
      const std::string words = judge_case(law, family, what);
      EXPECT_FALSE(is_finding(words)) << name << " " << what.text() << "\n"
                                      << law.id << ": " << words;
      spoke[law.id] += words.empty() ? 1 : 0;
    }
    if (::testing::Test::HasFailure()) return false;
  }
  return true;
}

TEST(LawsOnRows, AccuseNoneOfOurPolicies) {
  std::map<std::string_view, int> spoke;
  Dice dice(1);
  for (const std::string& text : specs()) {
    const auto spec = parse_spec(text);
    ASSERT_TRUE(spec) << text << ": " << spec.error().message;
    const auto family = make_spec_family(*spec);
    if (!innocent(text, *family, 1, dice, spoke)) return;
  }
  for (const Law& law : laws_on_rows()) {
    // Our cache tells no bytes, and declares no pages.
    if (law.id == "size.bytes" || law.id == "size.pages") continue;
    EXPECT_GE(spoke[law.id], 3) << law.id;
  }
}

std::vector<TaggedOptions> tagged_options() {
  std::vector<TaggedOptions> all;
  for (const std::string_view policy :
       {"dense", "streaming", "random", "reservoir", "reservoir:algorithm=l", "h2o",
        "h2o:normalise=age", "tova"}) {
    for (const Timing timing : {Timing::attend_then_trim, Timing::trim_then_attend, Timing::lazy}) {
      for (const Visibility visibility : {Visibility::causal, Visibility::window}) {
        for (const SlotOrder slots : {SlotOrder::in_order, SlotOrder::lowest_free}) {
          TaggedOptions options;
          options.policy = policy;
          options.timing = timing;
          options.slack = timing == Timing::lazy ? 3 : 0;
          options.visibility = visibility;
          options.slots = slots;
          options.rollback = slots == SlotOrder::in_order ? 4 : 0;
          all.push_back(options);
        }
      }
    }
  }
  TaggedOptions paged;
  paged.page = 4;
  all.push_back(paged);
  TaggedOptions ring;
  ring.slots = SlotOrder::ring;
  ring.timing = Timing::lazy;
  ring.slack = 3;
  ring.longest_chunk = 4;
  all.push_back(ring);
  return all;
}

TEST(LawsOnRows, AccuseNoTaggedCache) {
  std::map<std::string_view, int> spoke;
  Dice dice(1);
  for (const TaggedOptions& options : tagged_options()) {
    TaggedFamily<TaggedCache> family("plain", options);
    const std::string name = family.contract(family.requested())->reference;
    if (!innocent(name, family, 1, dice, spoke)) return;
  }
}

}  // namespace
}  // namespace kv::properties
