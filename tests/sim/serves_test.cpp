#include "kvcheck/sim/replay/serves.h"

#include <algorithm>

#include "kvcheck/properties/reference/reference_cache.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/memory_trace.h"
#include "kvcheck/tests/sim/plain_head.h"

namespace kv {
namespace {

Spec spec_of(const std::string& text) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return *spec;
}

// A trace whose heads have the width that specs receive.
MemoryShape narrow() {
  return {.tokens = 40,
          .layers = 1,
          .query_heads = 4,
          .kv_heads = 2,
          .head_dim = properties::input_dim,
          .rope = {RopeLayout::interleaved, properties::input_dim, 10000}};  // as input_rotation()
}

void append(std::vector<float>& into, const std::vector<double>& vector) {
  for (const double number : vector) into.push_back(static_cast<float>(number));
}

// What the trace holds of a token, straight from its tensors, for a kv-head or the whole layer.
properties::TokenInputs inputs_of(const Trace& trace,
                                  bool whole_layer,
                                  std::size_t kv_head,
                                  Position token) {
  properties::TokenInputs own;
  for (std::size_t head = 0; head < trace.info().query_heads; ++head) {
    if (!whole_layer && head / 2 != kv_head) continue;
    const PlainHead plain(trace, 0, head);
    append(own.queries, plain.vector(trace.layer(0).q, head, token));
    if (head % 2 != 0) continue;
    append(own.keys, plain.vector(trace.layer(0).k, head / 2, token));
    append(own.values, plain.vector(trace.layer(0).v, head / 2, token));
  }
  return own;
}

// In how many units each position is resident at the end, by the executable specification.
std::vector<std::uint32_t> kept_by_model(const Trace& trace, const Spec& spec) {
  const bool whole = spec.unit == Unit::layer;
  std::vector<std::uint32_t> kept(trace.info().tokens);
  for (std::size_t unit = 0; unit < (whole ? 1U : 2U); ++unit) {
    properties::ReferenceCache reference(spec, std::make_shared<CounterDraws>(Rng(1)));
    const properties::MassOf no_mass = [](const auto& visible, Position) {
      return std::vector<float>(visible.size());
    };
    for (std::size_t fed = 0; fed < kept.size(); fed += spec.chunk) {
      const std::size_t chunk = std::min<std::size_t>(spec.chunk, kept.size() - fed);
      static_cast<void>(reference.feed(
          chunk, no_mass, [&](Position token) { return inputs_of(trace, whole, unit, token); }));
    }
    for (const Position position : reference.residents()) ++kept[position];
  }
  return kept;
}

TEST(Replay, ShowsPoliciesTheTracesOwnVectors) {
  const Trace trace = random_qkv_trace(narrow());
  for (const std::string text :
       {"key-norm:recent=4,budget=12", "key-norm:recent=4,budget=12;unit=layer",
        "keydiff:recent=4,budget=12;chunk=3", "keydiff:recent=4,budget=12;unit=layer",
        "lagkv:sinks=1,recent=4,budget=12,lag=3;chunk=7", "lagkv:recent=4,budget=12;unit=layer",
        "rkv:recent=4,budget=12,lambda=0", "rkv:recent=4,budget=12,lambda=0;unit=layer;chunk=3",
        "expected-attention:recent=4,budget=12",
        "expected-attention:recent=4,budget=12,covariance=full;unit=layer;chunk=5",
        "expected-attention:recent=4,budget=12,future=3;positions=in-cache",
        "semantic-blocks:recent=4,budget=12,block=2,scores=rotated",
        "semantic-blocks:recent=4,budget=12,block=2",
        "semantic-blocks:recent=4,budget=13,block=3;unit=layer;chunk=2"}) {
    const Cell cell = {spec_of(text), 1};
    const ReplayResult result = replay(trace, std::array{cell}, {}).value();
    EXPECT_EQ(result.cells[0].kept, kept_by_model(trace, cell.spec)) << text;
  }
}

std::string refusal(const Trace& trace, const std::string& spec) {
  const auto result = replay(trace, std::array{Cell{spec_of(spec), 1}}, {});
  if (result) return "replayed";
  EXPECT_EQ(result.error().kind, Error::Kind::usage);
  return result.error().message;
}

TEST(Replay, SaysWhichFactsATraceCannotGive) {
  const Trace rows = attention_trace(narrow(), [](auto, auto, auto, auto) { return 1.0; });
  EXPECT_EQ(refusal(rows, "keydiff:budget=12"),
            "'keydiff' looks at keys, but 'memory' records attention rows only; record q/k/v");
  EXPECT_EQ(refusal(rows, "reservoir-es:weight=value-norm,budget=12"),
            "'reservoir-es:weight=value-norm' looks at values, but 'memory' records attention rows "
            "only; record q/k/v");
  EXPECT_EQ(refusal(rows, "separators:budget=12"),
            "'separators' looks at the words that tokens are, but 'memory' has no text; record it "
            "with 'text' and 'text_ends'");
  EXPECT_EQ(refusal(rows, "reservoir-es:budget=12"), "replayed");
}

TEST(TokenClasses, OfATraceAreThoseOfItsTextsPieces) {
  const Trace bare = random_qkv_trace(narrow());
  EXPECT_TRUE(token_classes(bare).empty());
  const Trace reported({bare.info()}, {bare.layer(0)}, {}, nullptr,
                       {.text = "The cat, a", .text_ends = {3, 7, 8, 10}, .nll = {}});
  EXPECT_EQ(token_classes(reported), (std::vector{TokenClass::function, TokenClass::content,
                                                  TokenClass::separator, TokenClass::function}));
}

}  // namespace
}  // namespace kv
