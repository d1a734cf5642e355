// Attention gathered, read or weighed wrongly.
#include <cmath>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::size_t>;

class ScoreWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o}; }

  // What is kept depends on attention in its own way: it is held to the policy that it names.
  static void declare(Contract&) {}
};

class NewestGoes final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  void after_chunk(PlainGroup& group) override {
    while (group.rows.size() > contract_.budget) {
      const auto first = group.rows.begin() + contract_.sinks;
      group.rows.erase(std::ranges::min_element(first, group.rows.end(), {}, &PlainRow::gathered));
    }
    close_gaps(group);
  }

  void before_query(PlainGroup&, Token) override {}

 public:
  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .visibility = Visibility::causal};
  }
};

class TiesEvictSinks final : public ScoreWrong {
 public:
  using ScoreWrong::ScoreWrong;

  static void declare(Contract& contract) { Wrong::declare(contract); }

 private:
  void settle(PlainGroup& group) override {
    const std::size_t live = static_cast<std::size_t>(
        std::ranges::count_if(group.rows, [](const PlainRow& row) { return !row.gone; }));
    PlainRow& first = group.rows.front();
    const bool tie = !first.gone && group.rows.size() > 1 && first.last == group.rows[1].last;
    if (tie && live > contract_.budget) first.gone = true;
    ScoreWrong::settle(group);
  }
};

class ScoresStay final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  void free_rows(PlainGroup& group) override {
    const std::vector<PlainRow> before = group.rows;
    ScoreWrong::free_rows(group);
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      group.rows[i].gathered = before[i].gathered;
    }
  }
};

class NoNewcomer final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  std::size_t victim(PlainGroup&, const Rows& candidates, std::size_t, Draws&) override {
    return candidates.size() - 1;
  }
};

class OldestGoes final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  std::size_t victim(PlainGroup&, const Rows&, std::size_t, Draws&) override { return 0; }
};

class HeaviestGoes final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  void observe(PlainGroup& group, const Rows& visible, std::span<const float> mass) override {
    std::vector<float> less(mass.begin(), mass.end());
    for (float& x : less) x = -x;
    ScoreWrong::observe(group, visible, less);
  }
};

class FutureCounts final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  Answer<Facts> feed(const Feed& feed) override {
    stream_ = feed.stream;
    tokens_.assign(feed.tokens.begin(), feed.tokens.end());
    return ScoreWrong::feed(feed);
  }

  void append(PlainGroup& group, std::span<const Token> tokens) override {
    ScoreWrong::append(group, tokens);
    const Place place = place_of(first_unit(group));
    for (const Token query : tokens) {
      for (const Token key : tokens) {
        PlainRow* const row = find(group, static_cast<std::uint64_t>(key.position));
        if (key <= query || row == nullptr) continue;
        const Payer payer{place.sequence, place.layer, place.head * setup_.group};
        row->gathered += std::exp(static_cast<double>(stream_.logit(payer, query, key)) - 8);
      }
    }
  }

  Stream stream_;
  std::vector<Token> tokens_;
};

class KeyAsQuery final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  std::vector<float> weigh(const PlainGroup& group,
                           const Feed& feed,
                           std::size_t query,
                           const Rows& visible,
                           std::vector<std::vector<float>>& per_unit) override {
    std::vector<float> mass = ScoreWrong::weigh(group, feed, query, visible, per_unit);
    const Place place = place_of(first_unit(group));
    const Payer payer{place.sequence, place.layer, place.head * setup_.group};
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const Token key = group.rows[visible[i]].token;
      mass[i] = feed.stream.logit(payer, key, feed.tokens[query]);
    }
    return mass;
  }
};

class RawLogits final : public ScoreWrong {
 public:
  using ScoreWrong::ScoreWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o_by_age}; }

  static void declare(Contract& contract) { Wrong::declare(contract); }

 private:
  std::vector<float> weigh(const PlainGroup& group,
                           const Feed& feed,
                           std::size_t query,
                           const Rows& visible,
                           std::vector<std::vector<float>>& per_unit) override {
    std::vector<float> mass = ScoreWrong::weigh(group, feed, query, visible, per_unit);
    const Place place = place_of(first_unit(group));
    const Payer payer{place.sequence, place.layer, place.head * setup_.group};
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const Token key = group.rows[visible[i]].token;
      mass[i] = std::tanh(feed.stream.logit(payer, feed.tokens[query], key) / 4 - 1);
    }
    return mass;
  }
};

class LastQueryOnly final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  void observe(PlainGroup& group, const Rows& visible, std::span<const float> mass) override {
    const std::int64_t own = group.rows[visible.back()].token.position;
    const bool last = own + 1 == static_cast<std::int64_t>(group.fed);
    if (last) ScoreWrong::observe(group, visible, mass);
  }
};

class WeightsLackTheEvicted final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  std::vector<float> weigh(const PlainGroup& group,
                           const Feed& feed,
                           std::size_t query,
                           const Rows& visible,
                           std::vector<std::vector<float>>& per_unit) override {
    auto mass = ScoreWrong::weigh(group, feed, query, visible, per_unit);
    const float kept =
        static_cast<float>(visible.size()) / static_cast<float>(feed.tokens[query].position + 1);
    for (auto& weights : per_unit) {
      for (float& weight : weights) weight *= kept;
    }
    return mass;
  }
};

// A bias by distance that counts slots.
class SlotsInTheSoftmax final : public ScoreWrong {
  using ScoreWrong::ScoreWrong;

  std::vector<float> weigh(const PlainGroup& group,
                           const Feed& feed,
                           std::size_t query,
                           const Rows& visible,
                           std::vector<std::vector<float>>& per_unit) override {
    auto mass = ScoreWrong::weigh(group, feed, query, visible, per_unit);
    for (auto& weights : per_unit) {
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

class WeightsOnHidden final : public ScoreWrong {
 public:
  using ScoreWrong::ScoreWrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .timing = Timing::lazy, .slack = 4};
  }

 private:
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

class SlotsByScore final : public ScoreWrong {
 public:
  using ScoreWrong::ScoreWrong;

  static void declare(Contract& contract) { Wrong::declare(contract); }

 private:
  void close_gaps(PlainGroup& group) override {
    std::vector<PlainRow*> by_score;
    for (PlainRow& row : group.rows) by_score.push_back(&row);
    std::ranges::stable_sort(by_score, std::greater<>(), &PlainRow::gathered);
    for (std::size_t i = 0; i < by_score.size(); ++i) by_score[i]->slot = i;
  }
};

}  // namespace

std::vector<Mutant> score_mutants() {
  return {
      mutant<NewestGoes>("newest-is-the-victim",
                         "the newcomer competes with a sum of one query and always loses",
                         "VeloxQuant-MLX issues 137 and 141"),
      mutant<TiesEvictSinks>("ties-evict-the-first", "among equal scores slot 0 goes, sink or not",
                             "keys_values issues 140 and 142"),
      mutant<ScoresStay>("scores-not-gathered-with-keys",
                         "after an eviction scores stay where they were", "made"),
      mutant<NoNewcomer>("no-newcomer-ever-stays",
                         "the new mask is joined to the old by and: no newcomer becomes heavy",
                         "Keyformer"),
      mutant<OldestGoes>("oldest-first-whatever-its-score", "scores are kept and never read",
                         "notes of a StreamingLLM port, POS-aware"),
      mutant<HeaviestGoes>("heaviest-goes", "the order of the scores is reversed", "made"),
      mutant<FutureCounts>("future-counts-in-scores",
                           "attention inside a chunk is summed before the causal mask",
                           "KVCache-Factory before commit 9f9aa2e"),
      mutant<KeyAsQuery>("key-stands-in-for-the-query",
                         "scores come from keys, the real query is never asked",
                         "VeloxQuant-MLX, its h2o and snapkv"),
      mutant<RawLogits>("logits-instead-of-probabilities",
                        "what is gathered changes when a constant is added to all logits", "made"),
      mutant<LastQueryOnly>("only-the-last-query-votes",
                            "sums are declared, a chunk counts as one query", "made, after TOVA"),
      mutant<WeightsLackTheEvicted>("weights-not-renormalised",
                                    "weights still count what was evicted", "made"),
      mutant<SlotsInTheSoftmax>("slots-in-the-softmax",
                                "a bias by distance counts slots, not positions", "made"),
      mutant<WeightsOnHidden>("weight-on-hidden-rows", "masked rows get weight", "made"),
      mutant<SlotsByScore>("rows-in-order-of-score",
                           "survivors lie in the order of their scores, undeclared",
                           "kvpress issue 173"),
  };
}

}  // namespace kv::properties
