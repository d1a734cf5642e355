// Attention gathered, read or weighed wrongly.
#include <cmath>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct ScoreWrong : ScoredWrong {
  // What is kept depends on attention in its own way: it is held to the policy that it names.
  static void declare(Contract&) {}
};

struct NewestIsVictim final : ScoreWrong {
  void after_chunk(CacheUnit& unit) override {
    while (unit.rows.size() > contract_.budget) {
      const auto first = unit.rows.begin() + contract_.sinks;
      unit.rows.erase(std::ranges::min_element(first, unit.rows.end(), {}, &StoredRow::gathered));
    }
    close_gaps(unit);
  }

  void before_query(CacheUnit&, Token) override {}

  static TaggedOptions options() { return {.policy = "h2o", .visibility = Visibility::causal}; }
};

struct TiesEvictSinks final : ScoreWrong {
  static void declare(Contract& contract) { Wrong::declare(contract); }

  void settle(CacheUnit& unit) override {
    const std::size_t live = static_cast<std::size_t>(
        std::ranges::count_if(unit.rows, [](const StoredRow& row) { return !row.evicted; }));
    StoredRow& first = unit.rows.front();
    const bool tie = !first.evicted && unit.rows.size() > 1 && first.last == unit.rows[1].last;
    if (tie && live > contract_.budget) first.evicted = true;
    ScoreWrong::settle(unit);
  }
};

struct ScoresNotGathered final : ScoreWrong {
  void free_rows(CacheUnit& unit) override {
    const std::vector<StoredRow> before = unit.rows;
    ScoreWrong::free_rows(unit);
    for (std::size_t i = 0; i < unit.rows.size(); ++i) {
      unit.rows[i].gathered = before[i].gathered;
    }
  }
};

struct NoNewcomer final : ScoreWrong {
  std::size_t victim(CacheUnit&, const Choice& choice, Draws&) override {
    return choice.rows.size() - 1;
  }
};

struct OldestIsVictim final : ScoreWrong {
  std::size_t victim(CacheUnit&, const Choice&, Draws&) override { return 0; }
};

struct HighestIsVictim final : ScoreWrong {
  void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) override {
    std::vector<float> less(mass.begin(), mass.end());
    for (float& x : less) x = -x;
    ScoreWrong::observe(unit, visible, less);
  }
};

struct FutureCounts final : ScoreWrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    ScoreWrong::append(unit, tokens);
    for (const Token query : tokens) {
      for (const Token key : tokens) {
        StoredRow* const row = find(unit, static_cast<std::uint64_t>(key.position));
        if (key <= query || row == nullptr) continue;
        row->gathered +=
            std::exp(static_cast<double>(stream_.logit(first_payer(unit), query, key)) - 8);
      }
    }
  }
};

struct KeyAsQuery final : ScoreWrong {
  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    std::vector<float> mass = ScoreWrong::weigh(unit, query, per_head);
    for (std::size_t i = 0; i < query.visible.size(); ++i) {
      const Token key = unit.rows[query.visible[i]].token;
      mass[i] = stream_.logit(first_payer(unit), key, query.token);
    }
    return mass;
  }
};

struct RawLogits final : ScoreWrong {
  static TaggedOptions options() { return {.policy = "h2o:normalise=age"}; }

  static void declare(Contract& contract) { Wrong::declare(contract); }

  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    std::vector<float> mass = ScoreWrong::weigh(unit, query, per_head);
    for (std::size_t i = 0; i < query.visible.size(); ++i) {
      const Token key = unit.rows[query.visible[i]].token;
      mass[i] = std::tanh(stream_.logit(first_payer(unit), query.token, key) / 4 - 1);
    }
    return mass;
  }
};

struct LastQueryOnly final : ScoreWrong {
  void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) override {
    const std::int64_t own = unit.rows[visible.back()].token.position;
    const bool last = own + 1 == static_cast<std::int64_t>(unit.fed);
    if (last) ScoreWrong::observe(unit, visible, mass);
  }
};

struct WeightsLackTheEvicted final : ScoreWrong {
  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    auto mass = ScoreWrong::weigh(unit, query, per_head);
    const float kept =
        static_cast<float>(query.visible.size()) / static_cast<float>(query.token.position + 1);
    for (auto& weights : per_head) {
      for (float& weight : weights) weight *= kept;
    }
    return mass;
  }
};

// A bias by distance that counts slots.
struct SlotsInTheSoftmax final : ScoreWrong {
  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    auto mass = ScoreWrong::weigh(unit, query, per_head);
    for (auto& weights : per_head) {
      float sum = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] *= 1 + 0.05F * static_cast<float>(i);
        sum += weights[i];
      }
      for (float& weight : weights) weight /= sum;
    }
    return mass;
  }
};

struct WeightsOnHidden final : ScoreWrong {
  static TaggedOptions options() { return {.policy = "h2o", .timing = Timing::lazy, .slack = 4}; }

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = ScoreWrong::feed(feed);
    if (auto* const facts = std::get_if<Facts>(&answer)) {
      for (UnitFacts& unit : facts->units) {
        for (std::size_t i = 0; i < unit.weights.size(); ++i) {
          if (unit.visible[i] == 0) unit.weights[i] = 0.125F;
        }
      }
    }
    return answer;
  }
};

struct SlotsByScore final : ScoreWrong {
  static TaggedOptions options() { return {.policy = "h2o", .slots = SlotOrder::by_score}; }

  static void declare(Contract& contract) {
    Wrong::declare(contract);
    contract.unordered = false;
  }
};

// Scores that lie in a list of their own, beside the rows, and lose the wrong entry when a row
// is removed.
struct ScoresApart : CausalScoredWrong {
  // The entry that is removed with row `row` of `rows`.
  virtual std::size_t entry_of(std::size_t row, std::size_t rows) = 0;

  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    CausalScoredWrong::append(unit, tokens);
    unit.notes.resize(unit.rows.size());
  }

  void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) override {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      unit.notes[visible[i]] += static_cast<double>(mass[i]);
    }
  }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const auto least = std::ranges::min_element(choice.rows, {}, [&](const StoredRow* row) {
      return unit.notes[static_cast<std::size_t>(row - unit.rows.data())];
    });
    return static_cast<std::size_t>(least - choice.rows.begin());
  }

  void free_rows(CacheUnit& unit) override {
    for (std::size_t row = unit.rows.size(); row-- > 0;) {
      if (!unit.rows[row].evicted) continue;
      const std::size_t entry = entry_of(row, unit.rows.size());
      unit.rows.erase(unit.rows.begin() + static_cast<std::ptrdiff_t>(row));
      unit.notes.erase(unit.notes.begin() + static_cast<std::ptrdiff_t>(entry));
    }
    close_gaps(unit);
  }
};

struct CountedFromTheSinks final : ScoresApart {
  std::size_t entry_of(std::size_t row, std::size_t) override {
    return row - std::min<std::size_t>(row, contract_.sinks);
  }
};

struct TheOneBefore final : ScoresApart {
  std::size_t entry_of(std::size_t row, std::size_t) override { return row > 0 ? row - 1 : 0; }
};

// What comes next inherits the victim's score, token by token: an ageing of its own kind, which
// only the policy that it names tells from a right one in most runs.
struct TheOneAfter final : ScoresApart {
  static void declare(Contract&) {}

  std::size_t entry_of(std::size_t row, std::size_t rows) override {
    return std::min(row + 1, rows - 1);
  }
};

struct TheLast final : ScoresApart {
  std::size_t entry_of(std::size_t, std::size_t rows) override { return rows - 1; }
};

// Scores lie in a list by slot, and a new row adds to what its slot had.
struct SlotKeepsItsScore final : CausalScoredWrong {
  static TaggedOptions options() {
    return {.policy = "h2o", .visibility = Visibility::causal, .slots = SlotOrder::lowest_free};
  }

  void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) override {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const std::size_t slot = unit.rows[visible[i]].slot;
      if (slot >= unit.notes.size()) unit.notes.resize(slot + 1);
      unit.notes[slot] += static_cast<double>(mass[i]);
    }
  }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const auto least = std::ranges::min_element(
        choice.rows, {}, [&](const StoredRow* row) { return unit.notes[row->slot]; });
    return static_cast<std::size_t>(least - choice.rows.begin());
  }
};

}  // namespace

std::vector<Mutant> score_mutants() {
  return {
      {"newest-is-the-victim", "the newcomer competes with a sum of one query and always loses",
       "VeloxQuant-MLX issues 137 and 141", of<NewestIsVictim>},
      {"ties-evict-the-first", "among equal scores slot 0 is evicted, sink or not",
       "keys_values issues 140 and 142", of<TiesEvictSinks>},
      {"scores-not-gathered-with-keys", "after an eviction scores stay where they were", "made",
       of<ScoresNotGathered>},
      {"no-newcomer-ever-stays",
       "the new mask is joined to the old by and: no newcomer becomes heavy", "Keyformer",
       of<NoNewcomer>},
      {"oldest-first-whatever-its-score", "scores are kept and never read",
       "notes of a StreamingLLM port, POS-aware", of<OldestIsVictim>},
      {"heaviest-goes", "the order of the scores is reversed", "made", of<HighestIsVictim>},
      {"future-counts-in-scores", "attention inside a chunk is summed before the causal mask",
       "KVCache-Factory before commit 9f9aa2e", of<FutureCounts>},
      {"key-stands-in-for-the-query", "scores come from keys, the real query is never asked",
       "VeloxQuant-MLX, its h2o and snapkv", of<KeyAsQuery>},
      {"logits-instead-of-probabilities",
       "what is gathered changes when a constant is added to all logits", "made", of<RawLogits>},
      {"only-the-last-query-votes", "sums are declared, a chunk counts as one query",
       "made, after TOVA", of<LastQueryOnly>},
      {"weights-not-renormalised", "weights still count what was evicted", "made",
       of<WeightsLackTheEvicted>},
      {"slots-in-the-softmax", "a bias by distance counts slots, not positions", "made",
       of<SlotsInTheSoftmax>},
      {"weight-on-hidden-rows", "masked rows get weight", "made", of<WeightsOnHidden>},
      {"rows-in-order-of-score", "survivors lie in the order of their scores, undeclared",
       "kvpress issue 173", of<SlotsByScore>},
      {"score-deleted-off-by-the-sinks",
       "a victim is counted from the sinks on and its score from slot 0",
       "made, after VeloxQuant-MLX issue 141", of<CountedFromTheSinks>},
      {"score-deleted-one-before", "the score of the row before the victim is deleted", "made",
       of<TheOneBefore>},
      {"score-deleted-one-after", "the score of the row behind the victim is deleted", "made",
       of<TheOneAfter>},
      {"slot-keeps-its-score", "a new row adds to the score of the row whose slot it takes", "made",
       of<SlotKeepsItsScore>},
      {"scores-cut-at-the-end", "a row is removed from the middle, its score from the end", "made",
       of<TheLast>},
  };
}

}  // namespace kv::properties
