// Each law that relates runs, on our own cache and on the same cache altered by a few lines.
#include <algorithm>
#include <functional>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

// What a bend may look at: the calls so far, and the facts that it may change.
struct Reported {
  Facts& facts;
  std::size_t calls = 0;   // this one included
  std::size_t tokens = 0;  // fed so far, this call's included
  std::size_t chunk = 0;
};

using Bend = std::function<void(Reported&)>;

class AlteredSubject final : public Subject {
 public:
  AlteredSubject(std::unique_ptr<Subject> right, const Bend& bend)
      : right_(std::move(right)), bend_(bend) {}

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = right_->feed(feed);
    tokens_ += feed.tokens.size();
    ++calls_;
    if (auto* facts = std::get_if<Facts>(&answer)) {
      Reported reported{*facts, calls_, tokens_, feed.tokens.size()};
      bend_(reported);
    }
    return answer;
  }

  Facts look() override { return right_->look(); }

 private:
  std::unique_ptr<Subject> right_;
  const Bend& bend_;
  std::size_t calls_ = 0;
  std::size_t tokens_ = 0;
};

class AlteredFamily final : public Family {
 public:
  AlteredFamily(const std::string& spec, Bend bend, std::function<void(Contract&)> declare = {})
      : right_(make_spec_family(parse_spec(spec).value())),
        bend_(std::move(bend)),
        declare_(std::move(declare)) {}

  [[nodiscard]] std::string name() const override { return "altered"; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    auto contract = right_->contract(setup);
    if (contract && declare_) declare_(*contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<AlteredSubject>(right_->make(setup, draws), bend_);
  }

  [[nodiscard]] bool uses_draws() const override { return true; }

  [[nodiscard]] Setup requested() const override { return right_->requested(); }

 private:
  std::unique_ptr<Family> right_;
  Bend bend_;
  std::function<void(Contract&)> declare_;
};

std::string tried(const std::string& id, AlteredFamily& family) {
  const Case what = feeding(family.requested(), {.seed = 3}, {1, 1, 2, 5, 1, 7, 1});
  return judge_case(*find_law(id), family, what);
}

void expect_holds_then_broken(const std::string& id,
                              const std::string& spec,
                              const Bend& bend,
                              const std::string& words) {
  AlteredFamily right(spec, [](Reported&) {});
  EXPECT_EQ(tried(id, right), "") << id;
  AlteredFamily wrong(spec, bend);
  EXPECT_THAT(tried(id, wrong), ::testing::HasSubstr(words)) << id;
}

// Drops the stored row of rank 1, the oldest behind one sink, after a chunk longer than 3.
void drop_after_wide_chunk(Reported& reported) {
  if (reported.tokens < 9) return;
  auto& stored = reported.facts.units[0].stored;
  stored.erase(stored.begin() + 1);
}

void hide_first_row_in_chunks(Reported& reported) {
  if (reported.chunk < 2 || reported.tokens < 9) return;
  reported.facts.units[0].visible[0] = 0;
}

TEST(LawOnRuns, SizeAmortisedCountsMovedRows) {
  const std::string spec = "streaming:sinks=1,recent=15;timing=lazy:15";
  expect_holds_then_broken(
      "size.amortised", spec,
      [](Reported& reported) {
        reported.facts.units[0].moved = 16 * std::uint64_t{reported.tokens};
      },
      "at most ");
}

TEST(LawOnRuns, SizeAmortisedSaysHowManyWouldDo) {
  AlteredFamily every_time("streaming:sinks=1,recent=15;timing=lazy:15", [](Reported& reported) {
    reported.facts.units[0].moved = 64 * std::uint64_t{reported.tokens};
  });
  EXPECT_EQ(tried("size.amortised", every_time),
            "expected: at most 1908 rows moved for 237 tokens: a trim of 64 for every 16; seen: "
            "1920 rows after 30 tokens");
  AlteredFamily silent("streaming:sinks=1,recent=15;timing=lazy:15",
                       [](Reported& reported) { reported.facts.units[0].moved.reset(); });
  EXPECT_EQ(tried("size.amortised", silent),
            "(not tested: the subject does not tell what it moves)");
}

TEST(LawOnRuns, SizeLivenessWantsTightSizesRefusedOrHeld) {
  const std::string spec = "h2o:sinks=2,recent=2,budget=6";
  expect_holds_then_broken(
      "size.liveness", spec,
      [](Reported& reported) {
        auto& stored = reported.facts.units[0].stored;
        if (reported.tokens > 6) stored.push_back(stored.back());
      },
      "expected: some token is evicted, however many are protected: at most 6 rows of a budget of "
      "6 (5 "
      "sinks, 1 recent); seen: 7 rows are stored");
  AlteredFamily accepting(
      spec, [](Reported&) {}, [](Contract& contract) { contract.recent = 6; });
  EXPECT_EQ(tried("size.liveness", accepting),
            "expected: a budget of 6 with 5 sinks and 6 recent tokens protected is refused; seen: "
            "it is accepted");
}

TEST(LawOnRuns, ChunkingStateComparesTheResidents) {
  expect_holds_then_broken(
      "chunking.state", "reservoir:sinks=1,recent=2,budget=6",
      [](Reported& reported) {
        if (reported.calls < 19) drop_after_wide_chunk(reported);
      },
      "expected: after 19 tokens fed as 1+1+2+5+1+7+1+1 the same is stored as fed one by one: 0 ");
}

TEST(LawOnRuns, ChunkingVisibleComparesEachQueryWithItselfAlone) {
  expect_holds_then_broken(
      "chunking.visible", "streaming:sinks=1,recent=3;visibility=window", hide_first_row_in_chunks,
      "expected: query 4 of chunk 4-8 sees what it sees fed one by one: 0 2-4; seen: it sees 2-4");
}

TEST(LawOnRuns, ChunkingTimingFollowsFromTheRunOneByOne) {
  for (const std::string timing : {"attend-then-trim", "trim-then-attend"}) {
    const std::string past =
        timing == "attend-then-trim" ? "0-4; seen: it sees 1-4" : "0 4; seen: it sees 4";
    expect_holds_then_broken(
        "chunking.timing", "streaming:sinks=1,recent=3;timing=" + timing, hide_first_row_in_chunks,
        "expected: query 4 of chunk 4-8 sees what is kept of the tokens before its chunk when they "
        "are fed one by one, and its chunk: " +
            past);
  }
}

TEST(LawOnRuns, ChunkingEmptyCallChangesNothing) {
  expect_holds_then_broken(
      "chunking.empty-call", "streaming:sinks=1,recent=3",
      [](Reported& reported) {
        if (reported.chunk == 0 && reported.tokens > 0) reported.facts.units[0].stored.pop_back();
      },
      "expected: a call without tokens leaves 0 stored; seen: stored are nothing");
  expect_holds_then_broken(
      "chunking.empty-call", "streaming:sinks=1,recent=3",
      [](Reported& reported) {
        if (reported.calls >= 10 && reported.chunk > 0) reported.facts.units[0].visible[0] = 0;
      },
      "expected: every query sees what it sees without the empty calls; seen: some query sees "
      "other "
      "rows after 5 calls without tokens");
}

TEST(LawOnRuns, ReferenceModelIsHeldTokenForToken) {
  AlteredFamily other_rule(
      "h2o:sinks=1,recent=2,budget=6", [](Reported&) {},
      [](Contract& contract) { contract.reference = "tova:sinks=1,recent=2,budget=6"; });
  EXPECT_THAT(tried("reference.model", other_rule),
              ::testing::StartsWith("expected: the specification of tova:sinks=1,recent=2,budget=6 "
                                    "stores 0 1 3 4 7 8; seen: stored are 0-3 7 8"));
  expect_holds_then_broken("reference.model", "random:sinks=1,recent=2,budget=6",
                           drop_after_wide_chunk, " stores 0 ");
  AlteredFamily unnamed(
      "h2o:sinks=1,recent=2,budget=6", [](Reported&) {},
      [](Contract& contract) { contract.reference.clear(); });
  EXPECT_EQ(tried("reference.model", unnamed), "(not applicable: the subject names no reference)");
  AlteredFamily unknown(
      "h2o:sinks=1,recent=2,budget=6", [](Reported&) {},
      [](Contract& contract) { contract.reference = "h2p"; });
  EXPECT_THAT(tried("reference.model", unknown), ::testing::HasSubstr("(not tested: reference: "));
}

TEST(LawOnRuns, ReferenceReductionsTrySizesWithoutAMiddleOrSinks) {
  expect_holds_then_broken("reference.reductions", "h2o:sinks=1,recent=2,budget=6",
                           drop_after_wide_chunk, "h2o:sinks=1,recent=5,budget=6");
  expect_holds_then_broken("reference.reductions", "streaming:sinks=1,recent=3;timing=lazy:0",
                           drop_after_wide_chunk,
                           " is here streaming:sinks=1,recent=3;timing=attend-then-trim");
}

}  // namespace
}  // namespace kv::properties
