// Each law on positions, rows, isolation, operations and attention: it holds for a right subject,
// and says how a wrong one breaks it.
#include <algorithm>

#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

struct Broken {
  std::string law;
  std::string mutant;
  std::string right;  // one that keeps the law in the same case
  std::string what;
  std::string words;
};

template <typename Named>
std::unique_ptr<Family> named(std::span<const Named> all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  EXPECT_NE(found, all.end()) << name;
  return found->make();
}

const std::vector<Broken>& table() {
  static const std::vector<Broken> all = {
      {"position.distance", "physical-length-as-position", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1,f1",
       "expected: query 4 is 4 away from token 0; seen: it is 3 away: at position 3, and the key "
       "at 0"},
      {"position.after-wrap", "position-modulo-ring", "plain-streaming",
       "sinks=1,recent=3,budget=4;stream=random;calls=f4,f4,f2",
       "expected: query 8 is 8 away from token 0; seen: it is 0 away: at position 0, and the key "
       "at 0"},
      {"position.after-rollback", "position-from-one-store-after-rollback", "plain-rollback",
       "sinks=2,recent=1,budget=3,layers=2;stream=random;calls=f4,f2,t4,f1",
       "expected: query 4 is 4 away from token 0; seen: it is 3 away: at position 3, and the key "
       "at 0"},
      {"position.query-and-key-alike", "query-one-position-on", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f2",
       "expected: query 0 and its own key are rotated for one position; seen: the query is at "
       "position 1, its key at 0"},
      {"position.monotone", "positions-restart-each-chunk", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f2,f1",
       "expected: token 2 is at a later position than token 1; seen: they are at positions 0 and "
       "1"},
      {"position.bounded", "chunk-offset-counted-twice", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f1,f2",
       "expected: query 2 is at a position from 0 to 2: 3 tokens were fed; seen: it is at position "
       "3"},
      {"position.same-for-all-heads-and-layers", "later-layers-a-chunk-ahead", "plain-streaming",
       "sinks=1,recent=2,budget=3,layers=2;stream=random;calls=f2",
       "expected: query 0 is at position 0, as in unit 0; seen: in unit 1 it is at position 2"},
      {"position.reset", "query-one-position-on", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f2,r,f1",
       "expected: the first query after the reset is at position 0; seen: it is at position 1"},
      {"position.sinks-untouched", "shift-takes-the-sinks", "plain-shifted",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1,f1",
       "expected: sink 0 is still at position 0; seen: it is at position -1"},
      {"position.shift-composes", "second-shift-call-overwrites-the-first", "plain-shifting",
       "sinks=1,recent=3,budget=4;stream=random;calls=f4,f4,d3,f1",
       "expected: as after one shift by -3: query 0 of the call reads token 6 at position 3; seen: "
       "at position 4"},
      {"position.norm", "shift-scales-again", "plain-shifted",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1,f1",
       "expected: the key of token 2, rotated at most 3 times, is wrong by no more than 1.035e-05 "
       "of its length; seen: it is wrong by 0.05"},
      {"row.pairing", "values-cut-one-row-early", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1",
       "expected: the value of token 1 lies beside its own key; seen: its key is of token 2, as "
       "stored"},
      {"row.place", "first-layer-rows-in-all-layers", "plain-reservoir-r",
       "sinks=1,recent=1,budget=3,layers=2;stream=random;calls=f3,f1,f1",
       "expected: the value of token 1 was made for sequence 0, layer 1, head 0; seen: it was made "
       "for sequence 0, layer 0, head 0, as stored"},
      {"row.unharmed", "coarser-than-declared", "plain-f16",
       "sinks=1,recent=2,budget=3;stream=random;calls=f2",
       "expected: the key of token 0 is wrong by no more than 0.00115 of its length; seen: it is "
       "wrong by 0.003793, as returned to attention"},
      {"row.precision", "recent-rows-are-quantised", "plain-int8",
       "sinks=1,recent=3,budget=4;stream=random;calls=f4,f1,f1",
       "expected: token 2 is stored as it was fed: it is one of the last 2; seen: it is stored in "
       "lower precision"},
      {"row.precision", "residual-is-one-short", "plain-int4",
       "sinks=1,recent=3,budget=5;stream=random;calls=f4,f1",
       "expected: token 1 is stored as it was fed: it is one of the last 3; seen: it is stored in "
       "lower precision"},
      {"row.precision", "sinks-are-quantised", "plain-int4-sinks",
       "sinks=2,recent=3,budget=5;stream=random;calls=f4,f1",
       "expected: token 0 is stored as it was fed: it is one of the first 2; seen: it is stored in "
       "lower precision"},
      {"row.half-step", "codes-are-cut-off", "plain-int4",
       "sinks=1,recent=3,budget=5;stream=random;calls=f5,f1",
       "expected: the numbers of token 0 are off by at most half a step of their scale; seen: one "
       "is off by 1 steps"},
      {"row.half-step", "scale-of-the-next-group", "plain-int4",
       "sinks=1,recent=3,budget=5;stream=random;calls=f5,f1",
       "expected: the numbers of token 0 are off by at most half a step of their scale; seen: one "
       "is off by 49 steps"},
      {"row.half-step", "residual-is-rounded", "plain-int4",
       "sinks=1,recent=3,budget=5;stream=random;calls=f5,f1",
       "expected: token 1 is in full precision: its numbers are those that were fed; seen: one is "
       "another"},
      {"row.returned-equals-stored", "values-cut-one-row-early", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1",
       "expected: the row of token 1 is stored with the key of token 1, as attention saw it; seen: "
       "it is stored with the key of token 2"},
      {"row.evict-equals-mask", "weights-not-renormalised", "plain-h2o",
       "sinks=1,recent=1,budget=3;stream=random;calls=f2,f1,f1",
       "expected: query 0 gives token 0 weight 0.3477, as if nothing were evicted and the rest "
       "were masked; seen: it gives 0.2608"},
      {"isolation.layers", "one-mask-for-all-layers", "plain-h2o",
       "sinks=0,recent=1,budget=6,layers=2;stream=random;calls=f9,f3,f5",
       "expected: whatever layer 0 attends to: query 6 of the call sees 0 1 2 3 4 6; seen: it sees "
       "0 1 2 3 5 6"},
      {"isolation.heads", "scores-summed-over-heads", "plain-h2o",
       "sinks=0,recent=1,budget=8,kv-heads=2;stream=drift,seed=1;calls=f12,f3,f5,f4",
       "expected: whatever query head 0 attends to: query 9 of the call sees 0 1 2 4 5 7 8 9; "
       "seen: it sees 0 1 2 3 4 5 7 9"},
      {"isolation.sequences", "scores-summed-over-the-batch", "plain-h2o",
       "sinks=0,recent=1,budget=6,sequences=2;stream=random;calls=f9,f3,f5",
       "expected: whatever sequence 0 attends to: query 6 of the call sees 0 1 2 3 4 6; seen: it "
       "sees 0 1 2 3 5 6"},
      {"isolation.group", "first-head-votes-for-its-group", "plain-h2o",
       "sinks=0,recent=1,budget=8,group=2;stream=drift,seed=1;calls=f12,f3,f5,f4",
       "expected: whichever query head of the group attends to what: query 8 of the call sees 0 1 "
       "2 3 4 5 6 8; seen: it sees 0 1 2 3 4 5 7 8"},
      {"isolation.objects", "global-generator", "plain-reservoir-r",
       "sinks=0,recent=1,budget=3;stream=random;calls=f3,f1,f1,f1,f1,f1,f1",
       "expected: as when no other cache is in use: query 0 of the call sees 2 3 4; seen: it sees "
       "0 3 4"},
      {"isolation.seeds", "one-sample-for-all-layers", "plain-reservoir-r",
       "sinks=0,recent=1,budget=3;stream=random;calls=f3,f1",
       "expected: layers and heads draw apart: under one of 8 seeds, layer 1, head 0 keeps other "
       "tokens than layer 0, head 0; seen: both keep the same after every call, in the end 3 24 "
       "69"},
      {"operation.determinism", "global-generator", "plain-reservoir-r",
       "sinks=0,recent=1,budget=3;stream=random;calls=f3,f1,f1,f1,f1,f1,f1",
       "expected: as in the first run: query 0 of the call sees 0 2 3; seen: it sees 1 2 3"},
      {"operation.reset", "reset-keeps-a-row", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f4,r,f1",
       "expected: after a reset nothing is stored or reported; seen: it stores 0 and reports 1 "
       "rows"},
      {"operation.fork", "fork-is-an-alias", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,k,f1",
       "expected: the original, as if it had not been forked: query 0 of the call sees 0 2 3; "
       "seen: it sees 0 2 3 3v1"},
      {"operation.truncate", "rejected-rows-stay", "plain-rollback",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1,t3,f1",
       "expected: as if nothing had been fed after token 2 and taken back: it stores 0 1 2; seen: "
       "it stores 0 1 2 3v1"},
      {"operation.truncate-hostile", "negative-rollback-adds-rows", "plain-rollback",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1",
       "expected: truncating to -1 is refused: 3 tokens were fed; seen: it is done"},
      {"operation.rollback-declared", "rollback-shallower-than-promised", "plain-rollback",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1,f2,f1",
       "expected: the last 6 of 7 tokens can be taken back: rollback=6 is declared; seen: truncate "
       "is refused: too far"},
      {"operation.reorder", "reorder-in-place", "plain-h2o",
       "sinks=0,recent=1,budget=6,sequences=2;stream=random;calls=f9,f3,o1.0,f1",
       "expected: sequence 1 is what sequence 0 was: it stores 0 1 2 3 4 11; seen: it stores 0 1 2 "
       "3 5 11"},
      {"operation.reorder-hostile", "reorder-clamps", "plain-streaming",
       "sinks=1,recent=2,budget=3,sequences=2;stream=random;calls=f4,f1",
       "expected: a reorder from 0 2 is refused: the sequences are 0 to 1, and each is to be given "
       "one; seen: it is done"},
      {"operation.snapshot", "snapshot-loses-scores", "plain-h2o",
       "sinks=0,recent=1,budget=3;stream=random;calls=f1,f1,f1,f1,s,f1,f1,f1",
       "expected: as if it had not been saved: query 0 of the call sees 0 1 4; seen: it sees 1 3 "
       "4"},
      {"operation.shift", "shift-call-does-nothing", "plain-shifting",
       "sinks=1,recent=3,budget=4;stream=random;calls=f4,f4,d3,f1",
       "expected: token 5 moves from position 5 to 2; seen: it is at position 5"},
      {"isolation.sharing", "shares-in-name-only", "plain-per-layer",
       "sinks=0,recent=1,budget=8,kv-heads=2;stream=drift,seed=1;calls=f12,f3,f5,f4",
       "expected: as unit 0: query 8 of the call sees 0 1 2 3 4 5 6 8; seen: it sees 0 1 2 3 4 5 7 "
       "8"},
      {"operation.refusal", "refuses-halfway", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f3,f1",
       "expected: as if what was refused had not been asked: query 0 of the call sees 0 2 3; seen: "
       "it sees 0 3"},
      {"attention.sums-to-one", "weights-not-renormalised", "plain-h2o",
       "sinks=1,recent=1,budget=3;stream=random;calls=f3,f1",
       "expected: the weights of query 0 sum to 1; seen: they sum to 0.75"},
      {"attention.renormalised", "weights-not-renormalised", "plain-h2o",
       "sinks=1,recent=1,budget=3;stream=ties;calls=f2,f1,f1",
       "expected: query 3 gives token 0 weight 0.3333, the softmax of its logits over the rows "
       "that it sees; seen: it gives 0.25"},
      {"attention.no-leak", "later-tokens-of-the-chunk-visible", "plain-streaming",
       "sinks=1,recent=2,budget=3;stream=random;calls=f1,f3",
       "expected: whatever the tokens from 2 on are: query 0 of the call sees 0 1 2 3; seen: it "
       "sees 0 1 2v3 3v3"},
      {"attention.permutation", "slots-in-the-softmax", "plain-h2o",
       "sinks=1,recent=1,budget=3;stream=random;calls=f3,f1",
       "expected: all logits being equal, query 1 gives token 1 in slot 1 the weight 0.4878 that "
       "it gives token 0 in slot 0; seen: it gives 0.5122"},
      {"attention.offset", "logits-instead-of-probabilities", "plain-h2o",
       "sinks=2,recent=4,budget=8;stream=random,seed=19;calls=f2,f2,f1,f1,f3,f1,f7,f2,f9",
       "expected: with a constant added to all logits as without: query 3 of the call sees 0 1 9 "
       "18 19 20 21 22; seen: it sees 0 1 6 9 19 20 21 22"},
      {"attention.newcomer-can-win", "no-newcomer-ever-stays", "plain-h2o",
       "sinks=0,recent=4,budget=7;stream=random,planted=5;calls=f2",
       "expected: token 5 is kept: from its arrival on it gets nearly all attention; seen: it is "
       "evicted after 4 more tokens; stored are 0 1 2 6 7 8 9"},
      {"attention.stale-scores", "oldest-first-whatever-its-score", "plain-h2o",
       "sinks=0,recent=2,budget=4;stream=random;calls=f1",
       "expected: token 1 is kept: from its arrival on it gets nearly all attention; seen: it is "
       "evicted after 4 more tokens; stored are 2 3 4 5"},
      {"attention.ties", "first-layer-prunes-the-scores", "plain-h2o",
       "sinks=0,recent=1,budget=6,layers=2;stream=random;calls=f9,f3,f5",
       "expected: all scores equal, as in unit 0: it stores 0 1 2 3 4 8; seen: it stores 3 4 5 6 7 "
       "8"},
  };
  return all;
}

const Law& law_of(const std::string& id) {
  const Law* const law = find_law(id);
  EXPECT_NE(law, nullptr) << id;
  return *law;
}

TEST(LawsB, HoldForTheRight) {
  for (const Broken& row : table()) {
    const auto what = parse_case(row.what);
    ASSERT_TRUE(what) << row.what << ": " << what.error().message;
    const auto family = named(right_subjects(), row.right);
    EXPECT_EQ(judge_case(law_of(row.law), *family, *what), "") << row.law << " of " << row.right;
  }
}

TEST(LawsB, SayHowTheWrongBreakThem) {
  for (const Broken& row : table()) {
    const auto what = parse_case(row.what);
    const auto family = named(mutants(), row.mutant);
    EXPECT_EQ(judge_case(law_of(row.law), *family, *what), row.words)
        << row.law << " of " << row.mutant;
  }
}

}  // namespace
}  // namespace kv::properties
