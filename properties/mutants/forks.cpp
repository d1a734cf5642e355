// Copies, beams, resets and snapshots that are not what they say.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct SharesRows final : Wrong {
  using AllRows = std::vector<std::vector<StoredRow>>;  // by unit

  Answer<Facts> feed(const Feed& feed) override {
    take();
    auto answer = Wrong::feed(feed);
    if (rows_ != nullptr) *rows_ = rows_now();
    return answer;
  }

  Facts look() override {
    take();
    return Wrong::look();
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    take();
    auto answer = Wrong::fork();
    if (rows_ == nullptr) rows_ = std::make_shared<AllRows>(rows_now());
    dynamic_cast<SharesRows&>(*std::get<std::unique_ptr<Subject>>(answer)).rows_ = rows_;
    return answer;
  }

  void take() {
    if (rows_ == nullptr) return;
    for (std::size_t i = 0; i < rows_->size(); ++i) state_.units[i].rows = (*rows_)[i];
  }

  [[nodiscard]] AllRows rows_now() const {
    AllRows rows;
    for (const CacheUnit& unit : state_.units) rows.push_back(unit.rows);
    return rows;
  }

  std::shared_ptr<AllRows> rows_;
};

// A copy on which something was forgotten.
struct ForkWrong : ScoredWrong {
  virtual void spoil(CacheUnit& unit) = 0;

  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = ScoredWrong::fork();
    auto& copy = dynamic_cast<ForkWrong&>(*std::get<std::unique_ptr<Subject>>(answer));
    for (CacheUnit& unit : copy.state_.units) spoil(unit);
    return answer;
  }
};

// The first copy is whole; a copy of a copy is not.
struct SecondForkLosesScores final : ScoredWrong {
  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = ScoredWrong::fork();
    auto& copy = dynamic_cast<SecondForkLosesScores&>(*std::get<std::unique_ptr<Subject>>(answer));
    for (CacheUnit& unit : copy.state_.units) {
      for (StoredRow& row : unit.rows) row.gathered = is_fork_ ? 0 : row.gathered;
    }
    copy.is_fork_ = true;
    return answer;
  }

  bool is_fork_ = false;
};

struct ForkAdds final : ForkWrong {
  static TaggedOptions options() { return {}; }

  void spoil(CacheUnit& unit) override {
    if (unit.rows.empty()) return;
    StoredRow row = unit.rows.back();
    row.slot = unit.rows.size();
    unit.rows.push_back(row);
  }
};

struct ReorderDoesNothing final : ScoredWrong {
  Answer<Done> reorder(std::span<const std::uint32_t>) override { return Done{}; }
};

struct ReorderInPlace final : ScoredWrong {
  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    if (from.size() != setup_.sequences) return Wrong::reorder(from);
    for (const std::uint32_t sequence : from) {
      if (sequence >= setup_.sequences) return Wrong::reorder(from);
    }
    const std::size_t units = state_.units.size() / from.size();
    for (std::size_t i = 0; i < state_.units.size(); ++i) {
      state_.units[i] = state_.units[from[i / units] * units + i % units];
    }
    return Done{};
  }
};

struct ReorderLeavesQuantised final : Wrong {
  static TaggedOptions options() {
    return {.precision = Precision::int8, .full_precision_recent = 2};
  }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    const std::vector<CacheUnit> before = state_.units;
    auto answer = Wrong::reorder(from);
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t row = 0; row < before[i].rows.size(); ++row) {
        const StoredRow& old = before[i].rows[row];
        if (!old.vectors.front().full_precision) state_.units[i].rows[row] = old;
      }
    }
    return answer;
  }
};

// A reset after which something is left.
struct ResetWrong : Wrong {
  virtual void leave(const CacheUnit& before, CacheUnit& after) = 0;

  Answer<Done> reset() override {
    const std::vector<CacheUnit> before = state_.units;
    auto answer = Wrong::reset();
    for (std::size_t i = 0; i < before.size(); ++i) leave(before[i], state_.units[i]);
    return answer;
  }
};

struct ResetKeepsReleased final : ResetWrong {
  void leave(const CacheUnit& before, CacheUnit& after) override {
    after.released = before.released;
  }
};

struct ResetKeepsRows final : ResetWrong {
  void leave(const CacheUnit& before, CacheUnit& after) override {
    if (!before.rows.empty()) after.rows = {before.rows.front()};
  }
};

struct ResetKeepsSkips final : ResetWrong {
  static TaggedOptions options() { return {.policy = "reservoir:algorithm=l"}; }

  void leave(const CacheUnit& before, CacheUnit& after) override { after.notes = before.notes; }
};

struct ResetKeepsScores final : ResetWrong {
  static TaggedOptions options() { return ScoredWrong::options(); }

  void leave(const CacheUnit& before, CacheUnit& after) override {
    for (const StoredRow& row : before.rows) after.notes.push_back(row.gathered);
  }

  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    ResetWrong::append(unit, tokens);
    for (StoredRow& row : unit.rows) {
      const auto position = static_cast<std::size_t>(row.token.position);
      if (position >= unit.notes.size()) continue;
      row.gathered += std::exchange(unit.notes[position], 0);
    }
  }
};

// A restored cache that lacks something.
struct RestoreWrong : ScoredWrong {
  virtual void spoil(CacheUnit& unit) = 0;

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    auto answer = ScoredWrong::restore(bytes);
    for (CacheUnit& unit : state_.units) spoil(unit);
    return answer;
  }
};

template <typename Copied>
struct LosesScores final : Copied {
  void spoil(CacheUnit& unit) override {
    for (StoredRow& row : unit.rows) row.gathered = 0;
  }
};

template <typename Copied>
struct RestartsCount final : Copied {
  static TaggedOptions options() { return {.policy = "reservoir"}; }

  void spoil(CacheUnit& unit) override { unit.entered = unit.rows.size(); }
};

}  // namespace

std::vector<Mutant> fork_mutants() {
  return {
      {"fork-is-an-alias", "a fork shares its rows with the original",
       "mlx-swift-lm pull request 629", of<SharesRows>},
      {"fork-adds-to-old-rows", "a fork lands in a used slot and keeps a row that was there",
       "ollama pull request 6831", of<ForkAdds>},
      {"fork-forgets-scores", "a fork starts with no attention gathered", "made",
       of<LosesScores<ForkWrong>>},
      {"fork-of-a-fork-forgets-scores", "a fork of a fork starts with no attention gathered",
       "made, after beams that copy their parent's scores only", of<SecondForkLosesScores>},
      {"fork-restarts-the-count", "a fork of a reservoir counts from its size again", "made",
       of<RestartsCount<ForkWrong>>},
      {"reorder-does-nothing", "beams are not reordered", "transformers issue 46612",
       of<ReorderDoesNothing>},
      {"reorder-in-place", "sequences are copied over those that are still to be read", "made",
       of<ReorderInPlace>},
      {"reorder-leaves-quantised-rows", "only rows in full precision change places",
       "transformers issue 48700", of<ReorderLeavesQuantised>},
      {"reset-keeps-the-logical-length",
       "the rows are freed, the counter of the stream is not reset",
       "KVCache-Factory, stale kv_seq_len", of<ResetKeepsReleased>},
      {"reset-keeps-a-row", "the first row survives a reset",
       "streaming-llm, its perplexity script", of<ResetKeepsRows>},
      {"reset-keeps-the-skip",
       "the next token to enter a reservoir is still that of the old stream", "made",
       of<ResetKeepsSkips>},
      {"reset-keeps-scores", "attention gathered in one stream counts in the next",
       "kvpress issue 221; KVCache-Factory generation_state", of<ResetKeepsScores>},
      {"snapshot-loses-scores", "scores are not in the snapshot", "made",
       of<LosesScores<RestoreWrong>>},
      {"snapshot-loses-the-count", "how many tokens came is not in the snapshot", "made",
       of<RestartsCount<RestoreWrong>>},
  };
}

}  // namespace kv::properties
