#include "kvcheck/properties/cases/long_streams.h"

#include <algorithm>
#include <array>

namespace kv::properties {
namespace {

// Positions at which something may overflow or begin: bits of a word, a block of a kernel, a number
// of seven or eight bits, a length that a person chose. The last two need nightly lengths.
constexpr std::array<std::uint32_t, 14> edges = {64,   100,  128,  200,  256,  500,  512,
                                                 1000, 1024, 2000, 2048, 4096, 8192, 32768};

constexpr std::array<std::uint32_t, 3> blocks = {64, 128, 256};

class Chunks {
 public:
  explicit Chunks(const Contract& contract) : contract_(contract) {}

  // `tokens` more, in chunks of at most `most`.
  void take(std::uint32_t tokens, std::uint32_t most) {
    while (tokens > 0) {
      const std::uint32_t longest = contract_.longest_after(fed);
      const std::uint32_t chunk = std::min({tokens, most, longest == 0 ? tokens : longest});
      all.push_back(chunk);
      fed += chunk;
      tokens -= chunk;
    }
  }

  [[nodiscard]] bool has_prompt() const { return contract_.compress != Compress::always; }

  std::vector<std::uint32_t> all;
  std::uint32_t fed = 0;

 private:
  const Contract& contract_;
};

// A prompt, and then token by token. It is short unless prompts are what is compressed.
void decode(Drawer& draw, std::uint32_t tokens, Chunks& chunks) {
  chunks.take(chunks.has_prompt() ? tokens / 2 : 1 + draw.below(8), tokens);
  chunks.take(tokens - std::min(tokens, chunks.fed), 1);
}

// In leaps from edge to edge, and over each token by token.
void cross_edges(Drawer& draw, std::uint32_t tokens, Chunks& chunks) {
  const std::uint32_t leap = draw.pick(std::vector<std::uint32_t>{17, 64, 65, 96, 128, 129});
  for (const std::uint32_t edge : edges) {
    if (edge > tokens) break;
    const std::uint32_t before = edge - 1 - draw.below(2);
    if (before > chunks.fed) chunks.take(before - chunks.fed, edge > 4096 ? 512 : leap);
    chunks.take(4, 1);
  }
  chunks.take(tokens - std::min(tokens, chunks.fed), leap);
}

// Chunks a token more or less than a block, or as long, with single tokens between.
void wide(Drawer& draw, std::uint32_t tokens, Chunks& chunks) {
  while (chunks.fed < tokens) {
    const std::uint32_t block = blocks[draw.below(tokens > 400 ? 3 : 2)];
    chunks.take(block - 1 + draw.below(3), block + 1);
    chunks.take(1 + draw.below(3), 1);
  }
}

// Up to the budget in a few calls, over it token by token, and the same where the budget is full a
// second time.
void fill(Drawer& draw, std::uint32_t tokens, std::uint32_t budget, Chunks& chunks) {
  const std::uint32_t leap = std::max(1U, budget / (1 + draw.below(3)));
  for (const std::uint32_t edge : {budget, 2 * budget}) {
    if (edge > chunks.fed + 2) chunks.take(edge - 2 - chunks.fed, leap);
    chunks.take(5, 1);
  }
  if (tokens > chunks.fed) chunks.take(tokens - chunks.fed, leap + 1);
}

}  // namespace

std::vector<std::uint32_t> draw_long_chunks(Drawer& draw,
                                            const Length& length,
                                            std::uint32_t budget,
                                            const Contract& contract) {
  Chunks chunks(contract);
  switch (length.way) {
    case Length::Way::decode:
      decode(draw, length.tokens, chunks);
      break;
    case Length::Way::edges:
      cross_edges(draw, length.tokens, chunks);
      break;
    case Length::Way::wide:
      wide(draw, length.tokens, chunks);
      break;
    case Length::Way::room:
      fill(draw, length.tokens, budget, chunks);
      break;
  }
  return std::move(chunks.all);
}

void draw_large_sizes(Drawer& draw, std::uint32_t tokens, Setup& setup) {
  std::uint32_t block = blocks[0];
  for (const std::uint32_t larger : blocks) {
    if (2 * larger + 2 < tokens) block = larger;
  }
  // A block give or take a token, or a number between two blocks, which rounding would change.
  setup.budget = block + (draw.chance(1, 3) ? 3 + draw.below(block / 2) : draw.below(4) - 1U);
  if (2 * setup.budget + 2 > tokens) setup.budget = tokens / 2 - 1;
  setup.sinks = draw.below(5);
  const std::uint32_t left = setup.budget - setup.sinks;
  setup.recent = draw.pick(std::vector<std::uint32_t>{1, 4, 8, left / 4, left / 2, left});
}

}  // namespace kv::properties
