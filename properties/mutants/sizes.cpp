// Caches that hold too much, too little, or say otherwise.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class CausalWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.visibility = Visibility::causal}; }
};

class NeverEvicts final : public Wrong {
  using Wrong::Wrong;

  void after_chunk(PlainGroup&) override {}

  std::uint64_t reported(const PlainGroup& group) override {
    return std::min<std::uint64_t>(group.rows.size(), contract_.budget);
  }
};

class BudgetPerChunk final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    if (chunk_ <= contract_.budget) return;
    drop(group, [&](const PlainRow& row) {
      const auto index = row.token.position - static_cast<std::int64_t>(chunk_begin());
      return index >= contract_.sinks && index + contract_.recent < static_cast<long>(chunk_);
    });
  }
};

class TrimsOneLate final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    release(group, group.fed - 1);
    free_rows(group);
  }
};

class TrimsOneMore final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    if (group.fed > contract_.budget) release(group, group.fed + 1);
    free_rows(group);
  }
};

class SkipsFirstDecode final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    const bool first = chunk_ == 1 && group.notes.empty();
    if (chunk_ == 1) group.notes = {1};
    if (!first) CausalWrong::after_chunk(group);
  }
};

class DropsByAllocation final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    const std::size_t allocated = (group.rows.size() + 3) / 4 * 4;
    std::size_t excess = allocated - std::min<std::size_t>(allocated, contract_.budget);
    if (group.rows.size() <= contract_.budget) excess = 0;
    drop(group, [&](const PlainRow& row) { return !is_sink(row) && excess > 0 && excess-- > 0; });
  }
};

class CompressesOnce final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    if (chunk_begin() == 0) CausalWrong::after_chunk(group);
  }
};

class ShortInputKeepsNone final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    CausalWrong::after_chunk(group);
    if (group.rows.size() == 1) group.rows.clear();  // int(1 * 0.5)
  }
};

class ReportsTokensSeen final : public Wrong {
  using Wrong::Wrong;

  std::uint64_t reported(const PlainGroup& group) override { return group.fed; }
};

class NoVictimGrows final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o}; }

 private:
  void release(PlainGroup& group, std::uint64_t end) override {
    if (capacity() > 0) Wrong::release(group, end);
  }
};

class MinusZeroMeansAll final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .visibility = Visibility::causal};
  }

 private:
  void release(PlainGroup& group, std::uint64_t end) override {
    if (contract_.recent > 0) Wrong::release(group, end);
  }
};

class KeepsWhateverScores final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .visibility = Visibility::causal};
  }

 private:
  void settle(PlainGroup&) override {}
};

class RoundsToBlocks final : public CausalWrong {
  using CausalWrong::CausalWrong;

  void after_chunk(PlainGroup& group) override {
    CausalWrong::after_chunk(group);
    const auto kept = std::int64_t{contract_.recent / 2} * 2;
    if (group.fed <= contract_.budget) return;
    drop(group, [&](const PlainRow& row) {
      return !is_sink(row) && row.token.position + kept < static_cast<std::int64_t>(group.fed);
    });
  }
};

class LazyNeverDrained final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 4, .visibility = Visibility::causal};
  }

 private:
  void after_chunk(PlainGroup& group) override {
    if (chunk_ > contract_.budget + contract_.slack) Wrong::after_chunk(group);
  }
};

class SampleOneShort final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

 private:
  std::size_t victim(PlainGroup& group,
                     const std::vector<std::size_t>& candidates,
                     std::size_t k,
                     Draws& draws) override {
    if (k > 1 && candidates.size() == k + 1) group.rows[candidates.front()].gone = true;
    const std::size_t selected = Wrong::victim(group, candidates, k, draws);
    return selected == 0 ? k : selected;
  }
};

class CopiesEveryCall final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.timing = Timing::lazy, .slack = 8}; }

 private:
  void after_chunk(PlainGroup& group) override {
    Wrong::after_chunk(group);
    group.moved += group.rows.size();
  }
};

}  // namespace

std::vector<Mutant> size_mutants() {
  return {
      mutant<NeverEvicts>("never-evicts-reports-the-budget",
                          "nothing is ever freed, while the length says the budget",
                          "VeloxQuant-MLX issue 274"),
      mutant<BudgetPerChunk>("budget-per-chunk",
                             "each chunk is cut to the budget alone, sinks anchored at its own "
                             "first token, and appended",
                             "VeloxQuant-MLX issue 84, pull request 91"),
      mutant<TrimsOneLate>("trims-one-late", "one token over the budget stays", "made"),
      mutant<TrimsOneMore>("trims-one-more", "one recent token too many goes", "made"),
      mutant<SkipsFirstDecode>("first-decode-is-not-trimmed",
                               "the first one-token call frees nothing", "vLLM pull request 34568"),
      mutant<DropsByAllocation>("drops-by-allocated-width",
                                "what goes is counted from the allocated width, rounded up",
                                "mlx-vlm issue 2031, mlx-lm issue 1673"),
      mutant<CompressesOnce>("compresses-at-prefill-only",
                             "only the first call is trimmed; then the cache grows for ever",
                             "KVCache-Factory and kvpress defaults, kvpress issue 55"),
      mutant<ShortInputKeepsNone>("short-input-keeps-none",
                                  "a share of one token is rounded down to none",
                                  "kvpress pull request 264"),
      mutant<ReportsTokensSeen>("reports-tokens-seen",
                                "the length is that of the stream, not of what is stored",
                                "notes of a StreamingLLM port, bug 4"),
      mutant<NoVictimGrows>("no-victim-so-it-grows",
                            "when everything is protected nobody goes and the cache grows",
                            "FlexKV pull request 271; VeloxQuant-MLX"),
      mutant<MinusZeroMeansAll>("minus-zero-means-all",
                                "with recent=0 the slice [-0:] protects every token",
                                "transformers SinkCache; H2O with recent=0"),
      mutant<KeepsWhateverScores>("keeps-whatever-scores",
                                  "the threshold that marks victims is passed by every score",
                                  "LOOK-M issue 4"),
      mutant<RoundsToBlocks>("remainder-is-dropped",
                             "the tokens between the last whole block and the window are lost",
                             "notes of a StreamingLLM port, semantic blocks"),
      mutant<LazyNeverDrained>("lazy-buffer-is-never-drained",
                               "the chunk, not the store, is compared with budget and slack",
                               "made"),
      mutant<SampleOneShort>("sample-one-short", "a full middle holds one token less",
                             "opentelemetry-python issue 5462"),
      mutant<CopiesEveryCall>("copies-everything-every-call",
                              "a lazy cache copies all its rows in every call all the same",
                              "notes of a StreamingLLM port, bug 3"),
  };
}

}  // namespace kv::properties
