// Slots that are reused in the wrong order.
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

struct ValidByWrapped final : RingWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const auto position = static_cast<std::size_t>(query.position);
    const bool valid =
        is_sink(row) || row.slot - contract_.sinks <= (position - contract_.sinks) % ring();
    return valid && RingWrong::may_see(unit, row, query);
  }
};

struct NotLinearised final : RingWrong {
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto within = static_cast<std::size_t>(token.position) - chunk_begin();
    if (chunk_ < 2 || chunk_begin() < ring()) return RingWrong::slot_for(unit, token);
    return write_at(unit, within);
  }
};

struct PaddingWraps final : RingWrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    RingWrong::append(unit, tokens);
    if (unit.fed < contract_.sinks || tokens.size() < 2) return;
    for (std::size_t pad = tokens.size(); pad % 8 != 0; ++pad) {
      const std::size_t at = unit.fed + (pad - tokens.size()) - contract_.sinks;
      write_at(unit, at);
    }
  }
};

struct RingTooSmall final : RingWrong {
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    const std::size_t size = std::max<std::size_t>(1, contract_.recent + 1);
    return write_over(unit, contract_.sinks + (position - contract_.sinks) % size);
  }
};

struct WrapsOntoSinks final : RingWrong {
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    return write_over(unit, position % (contract_.sinks + ring()));
  }
};

struct StaleValues final : RingWrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    const std::vector<StoredRow> before = unit.rows;
    RingWrong::append(unit, tokens);
    if (tokens.size() < 2) return;
    StoredRow& row = unit.rows.back();
    const auto old = std::ranges::find(before, row.slot, &StoredRow::slot);
    if (old == before.end()) return;
    for (std::size_t i = 0; i < row.vectors.size(); ++i)
      row.vectors[i].value = old->vectors[i].value;
  }
};

struct WritesOnlyWhatFits final : RingWrong {
  // A chunk that crosses the end of the buffer is cut there.
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    const std::size_t before = unit.rows.size();
    RingWrong::append(unit, tokens);
    const bool crosses = tokens.size() > 1 && before > contract_.sinks &&
                         (unit.fed - 1 - contract_.sinks) % ring() + 1 < tokens.size();
    if (crosses) unit.rows.erase(unit.rows.end() - 2);
  }
};

// Survivors lie in the order of their scores; then the first slots are taken for the sinks.
struct SlotReadAsAge final : Wrong {
  static TaggedOptions options() { return {.policy = "h2o", .slots = SlotOrder::by_score}; }

  void settle(CacheUnit& unit) override {
    const Spec right = spec();
    Spec other = right;
    const std::uint32_t sinks = std::exchange(other.sinks, 0);
    other.budget -= sinks;
    use(other);
    std::vector<StoredRow*> hidden;
    for (StoredRow& row : unit.rows) {
      if (row.slot >= sinks || row.evicted) continue;
      row.evicted = true;
      hidden.push_back(&row);
    }
    Wrong::settle(unit);
    for (StoredRow* const row : hidden) row->evicted = false;
    use(right);
  }
};

}  // namespace

std::vector<Mutant> ring_mutants() {
  return {
      {"slot-valid-by-wrapped-position", "a slot counts as filled by the position modulo the ring",
       "efficient-transformers pull request 1235", of<ValidByWrapped>},
      {"chunk-appended-to-a-rotated-ring",
       "a chunk is written as if the ring began at its first slot", "ollama pull request 14912",
       of<NotLinearised>},
      {"padding-wraps-over-the-window", "the padded tail of a chunk is written over live rows",
       "tt-metal pull request 49614", of<PaddingWraps>},
      {"ring-too-small-for-the-chunk", "the ring has room for the window but not for the chunk",
       "executorch issue 18821", of<RingTooSmall>},
      {"wrap-lands-on-the-sinks", "the ring takes in the sinks' slots", "mlx-lm issue 1914",
       of<WrapsOntoSinks>},
      {"values-not-written-at-the-wrap", "the last row of a chunk keeps the slot's old value",
       "made", of<StaleValues>},
      {"chunk-cut-at-the-wrap", "a chunk that crosses the ring's end loses a row",
       "keys_values issue 140, its first diagnosis", of<WritesOnlyWhatFits>},
      {"slot-read-as-age", "rows lie in the order of scores, and the first slots pass for sinks",
       "kvpress issue 173", of<SlotReadAsAge>},
  };
}

}  // namespace kv::properties
