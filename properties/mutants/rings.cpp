// Slots that are reused in the wrong order.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class RingWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = PlainSlots::ring, .longest_chunk = 4};
  }

 protected:
  [[nodiscard]] std::size_t ring() const {
    return contract_.budget + contract_.slack - contract_.sinks;
  }

  static std::size_t write_over(PlainGroup& group, std::size_t slot) {
    std::erase_if(group.rows, [slot](const PlainRow& row) { return row.slot == slot; });
    return slot;
  }
};

class ValidByWrapped final : public RingWrong {
  using RingWrong::RingWrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const auto position = static_cast<std::size_t>(query.position);
    const bool valid =
        is_sink(row) || row.slot - contract_.sinks <= (position - contract_.sinks) % ring();
    return valid && RingWrong::may_see(group, row, query);
  }
};

class NotLinearised final : public RingWrong {
  using RingWrong::RingWrong;

  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto within = static_cast<std::size_t>(token.position) - chunk_begin();
    if (chunk_ < 2 || chunk_begin() < ring()) return RingWrong::slot_for(group, token);
    return write_over(group, contract_.sinks + within % ring());
  }
};

class PaddingWraps final : public RingWrong {
  using RingWrong::RingWrong;

  void append(PlainGroup& group, std::span<const Token> tokens) override {
    RingWrong::append(group, tokens);
    if (group.fed < contract_.sinks || tokens.size() < 2) return;
    for (std::size_t pad = tokens.size(); pad % 8 != 0; ++pad) {
      const std::size_t at = group.fed + (pad - tokens.size()) - contract_.sinks;
      write_over(group, contract_.sinks + at % ring());
    }
  }
};

class RingTooSmall final : public RingWrong {
  using RingWrong::RingWrong;

  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    const std::size_t size = std::max<std::size_t>(1, contract_.recent + 1);
    return write_over(group, contract_.sinks + (position - contract_.sinks) % size);
  }
};

class WrapsOntoSinks final : public RingWrong {
  using RingWrong::RingWrong;

  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    return write_over(group, position % (contract_.sinks + ring()));
  }
};

class StaleValues final : public RingWrong {
  using RingWrong::RingWrong;

  void append(PlainGroup& group, std::span<const Token> tokens) override {
    const std::vector<PlainRow> before = group.rows;
    RingWrong::append(group, tokens);
    if (tokens.size() < 2) return;
    PlainRow& row = group.rows.back();
    const auto old = std::ranges::find(before, row.slot, &PlainRow::slot);
    if (old == before.end()) return;
    for (std::size_t i = 0; i < row.cells.size(); ++i) row.cells[i].value = old->cells[i].value;
  }
};

class WritesOnlyWhatFits final : public RingWrong {
  using RingWrong::RingWrong;

  // A chunk that crosses the end of the buffer is cut there.
  void append(PlainGroup& group, std::span<const Token> tokens) override {
    const std::size_t before = group.rows.size();
    RingWrong::append(group, tokens);
    const bool crosses = tokens.size() > 1 && before > contract_.sinks &&
                         (group.fed - 1 - contract_.sinks) % ring() + 1 < tokens.size();
    if (crosses) group.rows.erase(group.rows.end() - 2);
  }
};

class SlotReadAsAge final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o}; }

  static void declare(Contract& contract) {
    contract.reference.clear();
    contract.unordered = true;
  }

 private:
  // Survivors lie in the order of their scores; then the first slots are taken for the sinks.
  void close_gaps(PlainGroup& group) override {
    std::vector<PlainRow*> by_score;
    for (PlainRow& row : group.rows) by_score.push_back(&row);
    std::ranges::stable_sort(by_score, std::greater<>(), &PlainRow::gathered);
    for (std::size_t i = 0; i < by_score.size(); ++i) by_score[i]->slot = i;
  }

  void settle(PlainGroup& group) override {
    const std::uint32_t sinks = std::exchange(contract_.sinks, 0);
    contract_.budget -= sinks;
    std::vector<PlainRow*> hidden;
    for (PlainRow& row : group.rows) {
      if (row.slot >= sinks || row.gone) continue;
      row.gone = true;
      hidden.push_back(&row);
    }
    Wrong::settle(group);
    for (PlainRow* const row : hidden) row->gone = false;
    contract_.sinks = sinks;
    contract_.budget += sinks;
  }
};

}  // namespace

std::vector<Mutant> ring_mutants() {
  return {
      mutant<ValidByWrapped>("slot-valid-by-wrapped-position",
                             "a slot counts as filled by the position modulo the ring",
                             "efficient-transformers pull request 1235"),
      mutant<NotLinearised>("chunk-appended-to-a-rotated-ring",
                            "a chunk is written as if the ring began at its first slot",
                            "ollama pull request 14912"),
      mutant<PaddingWraps>("padding-wraps-over-the-window",
                           "the padded tail of a chunk is written over live rows",
                           "tt-metal pull request 49614"),
      mutant<RingTooSmall>("ring-too-small-for-the-chunk",
                           "the ring has room for the window but not for the chunk",
                           "executorch issue 18821"),
      mutant<WrapsOntoSinks>("wrap-lands-on-the-sinks", "the ring takes in the sinks' slots",
                             "mlx-lm issue 1914"),
      mutant<StaleValues>("values-not-written-at-the-wrap",
                          "the last row of a chunk keeps the slot's old value", "made"),
      mutant<WritesOnlyWhatFits>("chunk-cut-at-the-wrap",
                                 "a chunk that crosses the ring's end loses a row",
                                 "keys_values issue 140, its first diagnosis"),
      mutant<SlotReadAsAge>("slot-read-as-age",
                            "rows lie in the order of scores, and the first slots pass for sinks",
                            "kvpress issue 173"),
  };
}

}  // namespace kv::properties
