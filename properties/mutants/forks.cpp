// Copies, beams, resets and snapshots that are not what they say.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::vector<PlainRow>>;

PlainOptions scored() {
  return {.policy = PlainPolicy::h2o};
}

class SharesRows final : public Wrong {
  using Wrong::Wrong;

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
    if (rows_ == nullptr) rows_ = std::make_shared<Rows>(rows_now());
    dynamic_cast<SharesRows&>(*std::get<std::unique_ptr<Subject>>(answer)).rows_ = rows_;
    return answer;
  }

  void take() {
    if (rows_ == nullptr) return;
    for (std::size_t i = 0; i < rows_->size(); ++i) state_.groups[i].rows = (*rows_)[i];
  }

  [[nodiscard]] Rows rows_now() const {
    Rows rows;
    for (const PlainGroup& group : state_.groups) rows.push_back(group.rows);
    return rows;
  }

  std::shared_ptr<Rows> rows_;
};

// A copy on which something was forgotten.
template <typename Derived>
class ForkWrong : public Wrong {
 public:
  using Wrong::Wrong;

  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = Wrong::fork();
    auto& copy = dynamic_cast<Derived&>(*std::get<std::unique_ptr<Subject>>(answer));
    for (PlainGroup& group : copy.state_.groups) Derived::spoil(group);
    return answer;
  }
};

class ForkAdds final : public ForkWrong<ForkAdds> {
 public:
  using ForkWrong::ForkWrong;

  static void spoil(PlainGroup& group) {
    if (group.rows.empty()) return;
    PlainRow row = group.rows.back();
    row.slot = group.rows.size();
    group.rows.push_back(row);
  }
};

class ForkForgetsScores final : public ForkWrong<ForkForgetsScores> {
 public:
  using ForkWrong::ForkWrong;

  static PlainOptions options() { return scored(); }

  static void spoil(PlainGroup& group) {
    for (PlainRow& row : group.rows) row.gathered = 0;
  }
};

class ForkRestartsCount final : public ForkWrong<ForkRestartsCount> {
 public:
  using ForkWrong::ForkWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

  static void spoil(PlainGroup& group) { group.entered = group.rows.size(); }
};

class ReorderDoesNothing final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return scored(); }

 private:
  Answer<Done> reorder(std::span<const std::uint32_t>) override { return Done{}; }
};

class ReorderInPlace final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return scored(); }

 private:
  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    if (from.size() != setup_.sequences) return Wrong::reorder(from);
    for (const std::uint32_t sequence : from) {
      if (sequence >= setup_.sequences) return Wrong::reorder(from);
    }
    const std::size_t groups = state_.groups.size() / from.size();
    for (std::size_t i = 0; i < state_.groups.size(); ++i) {
      state_.groups[i] = state_.groups[from[i / groups] * groups + i % groups];
    }
    return Done{};
  }
};

class ReorderLeavesQuantised final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.precision = Precision::int8, .full_precision_recent = 2};
  }

 private:
  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    const std::vector<PlainGroup> before = state_.groups;
    auto answer = Wrong::reorder(from);
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t row = 0; row < before[i].rows.size(); ++row) {
        const PlainRow& old = before[i].rows[row];
        if (!old.cells.front().full_precision) state_.groups[i].rows[row] = old;
      }
    }
    return answer;
  }
};

// A reset after which something is left.
template <typename Derived>
class ResetWrong : public Wrong {
 public:
  using Wrong::Wrong;

  Answer<Done> reset() override {
    const std::vector<PlainGroup> before = state_.groups;
    auto answer = Wrong::reset();
    for (std::size_t i = 0; i < before.size(); ++i) Derived::leave(before[i], state_.groups[i]);
    return answer;
  }
};

class ResetKeepsReleased final : public ResetWrong<ResetKeepsReleased> {
 public:
  using ResetWrong::ResetWrong;

  static void leave(const PlainGroup& before, PlainGroup& after) {
    after.released = before.released;
  }
};

class ResetKeepsRows final : public ResetWrong<ResetKeepsRows> {
 public:
  using ResetWrong::ResetWrong;

  static void leave(const PlainGroup& before, PlainGroup& after) {
    if (!before.rows.empty()) after.rows = {before.rows.front()};
  }
};

class ResetKeepsSkips final : public ResetWrong<ResetKeepsSkips> {
 public:
  using ResetWrong::ResetWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_l}; }

  static void leave(const PlainGroup& before, PlainGroup& after) {
    after.log_w = before.log_w;
    after.next = before.next;
  }
};

class ResetKeepsScores final : public ResetWrong<ResetKeepsScores> {
 public:
  using ResetWrong::ResetWrong;

  static PlainOptions options() { return scored(); }

  static void leave(const PlainGroup& before, PlainGroup& after) {
    for (const PlainRow& row : before.rows) after.notes.push_back(row.gathered);
  }

 private:
  void append(PlainGroup& group, std::span<const Token> tokens) override {
    ResetWrong::append(group, tokens);
    for (PlainRow& row : group.rows) {
      const auto position = static_cast<std::size_t>(row.token.position);
      if (position >= group.notes.size()) continue;
      row.gathered += std::exchange(group.notes[position], 0);
    }
  }
};

// A restored cache that lacks something.
template <typename Derived>
class RestoreWrong : public Wrong {
 public:
  using Wrong::Wrong;

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    auto answer = Wrong::restore(bytes);
    for (PlainGroup& group : state_.groups) Derived::lose(group);
    return answer;
  }
};

class SnapshotLosesScores final : public RestoreWrong<SnapshotLosesScores> {
 public:
  using RestoreWrong::RestoreWrong;

  static PlainOptions options() { return scored(); }

  static void lose(PlainGroup& group) {
    for (PlainRow& row : group.rows) row.gathered = 0;
  }
};

class SnapshotLosesCount final : public RestoreWrong<SnapshotLosesCount> {
 public:
  using RestoreWrong::RestoreWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

  static void lose(PlainGroup& group) { group.entered = group.rows.size(); }
};

}  // namespace

std::vector<Mutant> fork_mutants() {
  return {
      mutant<SharesRows>("fork-is-an-alias", "a fork shares its rows with the original",
                         "mlx-swift-lm pull request 629"),
      mutant<ForkAdds>("fork-adds-to-old-rows",
                       "a fork lands in a used slot and keeps a row that was there",
                       "ollama pull request 6831"),
      mutant<ForkForgetsScores>("fork-forgets-scores", "a fork starts with no attention gathered",
                                "made"),
      mutant<ForkRestartsCount>("fork-restarts-the-count",
                                "a fork of a reservoir counts from its size again", "made"),
      mutant<ReorderDoesNothing>("reorder-does-nothing", "beams are not reordered",
                                 "transformers issue 46612"),
      mutant<ReorderInPlace>("reorder-in-place",
                             "sequences are copied over those that are still to be read", "made"),
      mutant<ReorderLeavesQuantised>("reorder-leaves-quantised-rows",
                                     "only rows in full precision change places",
                                     "transformers issue 48700"),
      mutant<ResetKeepsReleased>("reset-keeps-the-logical-length",
                                 "the rows go, the counter of the stream stays",
                                 "KVCache-Factory, stale kv_seq_len"),
      mutant<ResetKeepsRows>("reset-keeps-a-row", "the first row survives a reset",
                             "streaming-llm, its perplexity script"),
      mutant<ResetKeepsSkips>("reset-keeps-the-skip",
                              "the next token to enter a reservoir is still that of the old stream",
                              "made"),
      mutant<ResetKeepsScores>("reset-keeps-scores",
                               "attention gathered in one stream counts in the next",
                               "kvpress issue 221; KVCache-Factory generation_state"),
      mutant<SnapshotLosesScores>("snapshot-loses-scores", "scores are not in the snapshot",
                                  "made"),
      mutant<SnapshotLosesCount>("snapshot-loses-the-count",
                                 "how many tokens came is not in the snapshot", "made"),
  };
}

}  // namespace kv::properties
