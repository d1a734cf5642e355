// Compares two specs: whether they keep and show the same tokens for every stream, chunk and
// timing.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/sim/listed.h"

namespace kv {

// Kinds of attention. Weights are multiples of 1/64, so that their sums are exact.
enum class ReducedKind { chance, recency, sinks, even };

struct ReducedStream {
  ReducedKind kind = ReducedKind::chance;
  bool all_content = false;  // every word is a content word

  // The weight of the attention that `query` pays `key`, not normalised.
  [[nodiscard]] float weight(Position query, Position key) const {
    const std::uint64_t chance = Rng(9, query).below(64, key);
    switch (kind) {
      case ReducedKind::chance:
        return static_cast<float>(chance) / 64;
      case ReducedKind::recency:
        return static_cast<float>(chance % 8) / 64 + (key + 6 > query ? 0.5F : 0.0F);
      case ReducedKind::sinks:
        return key < 3 ? 1.0F : static_cast<float>(chance % 16) / 64;
      case ReducedKind::even:
        break;
    }
    return 0.25F;
  }
};

// Passes the inputs of the next token and its attention to the cache.
inline void observe(UnitCache& cache,
                    const std::vector<Position>& seen,
                    const ReducedStream& stream) {
  const Position query = seen.back();
  std::vector<float> row;
  row.reserve(seen.size());
  for (const Position key : seen) row.push_back(stream.weight(query, key));
  std::vector<float> vector;
  for (std::uint32_t i = 0; i < 8; ++i) {
    vector.push_back(static_cast<float>(Rng(6, query).below(65, i)) / 8 - 4);
  }
  const auto word = static_cast<TokenClass>(Rng(7, query).below(3, 0));
  const HeadVectors vectors = {vector, 4};
  cache.observe({.mass = row,
                 .keys = vectors,
                 .values = vectors,
                 .queries = vectors,
                 .token_class = stream.all_content ? TokenClass::content : word});
}

// Feeds a chunk and returns the tokens that its queries saw.
inline std::vector<std::vector<Position>> feed(UnitCache& cache,
                                               std::size_t tokens,
                                               const ReducedStream& stream) {
  std::vector<std::vector<Position>> seen;
  cache.begin_chunk(tokens);
  for (std::size_t i = 0; i < tokens; ++i) {
    seen.push_back(listed(cache.next_query()));
    if (cache.needs().any()) observe(cache, seen.back(), stream);
  }
  cache.end_chunk();
  return seen;
}

inline UnitCache cache_of(const std::string& text, std::uint64_t seed = 1) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return {*spec, std::make_unique<CounterDraws>(Rng(seed))};
}

inline constexpr std::array all_kinds = {ReducedKind::chance, ReducedKind::recency,
                                         ReducedKind::sinks, ReducedKind::even};
inline constexpr std::array<const char*, 7> all_settings = {
    "",
    ";timing=lazy:5",
    ";timing=trim-then-attend",
    ";visibility=window",
    ";timing=lazy:5;visibility=window",
    ";timing=trim-then-attend;visibility=window",
    ";timing=lazy:1"};
inline constexpr std::size_t stream_tokens = 64;

// The size of a chunk: always 1, always 3, or changing sizes up to 11; `widest` at most.
inline std::size_t chunk_at(int way, std::size_t call, std::size_t widest) {
  const std::size_t chunk = way == 0 ? 1 : way == 1 ? 3 : 1 + call * 7 % 11;
  return std::min(chunk, widest);
}

// The result of a comparison: the first difference (empty if none) and the number of evicted rows.
struct PairOutcome {
  std::string difference;
  std::uint64_t evicted = 0;
};

inline PairOutcome compare(const std::string& one,
                           const std::string& other,
                           const ReducedStream& stream,
                           int way,
                           std::size_t widest) {
  UnitCache a = cache_of(one);
  UnitCache b = cache_of(other);
  for (std::size_t call = 0; a.seen() < stream_tokens; ++call) {
    const std::size_t chunk = chunk_at(way, call, widest);
    const bool alike = feed(a, chunk, stream) == feed(b, chunk, stream) &&
                       listed(a.all()) == listed(b.all()) && a.stored() == b.stored();
    if (!alike) {
      return {"'" + one + "' and '" + other + "' differ after call " + std::to_string(call) +
                  " of stream " + std::to_string(static_cast<int>(stream.kind)) + ", chunks " +
                  std::to_string(way),
              a.counts().evicted};
    }
  }
  return {"", a.counts().evicted};
}

// The condition under which two specs are the same cache.
enum class SameWhen {
  always,
  // A chunk wider than the recent window makes its room in that window and leaves the middle as it
  // is.
  chunks_fit_recent,
  all_content,
};

struct SpecPair {
  std::string one;
  std::string other;
  SameWhen when = SameWhen::always;
};

// The first difference over all settings, streams and chunks, or an empty text. Counts evictions.
inline std::string first_difference(const SpecPair& pair, std::uint64_t& evicted) {
  const std::size_t recent = parse_spec(pair.one)->recent;
  for (const std::string settings : all_settings) {
    const bool narrow = pair.when == SameWhen::chunks_fit_recent &&
                        settings.find("trim-then") != std::string::npos &&
                        settings.find("window") == std::string::npos;
    for (const ReducedKind kind : all_kinds) {
      for (int way = 0; way < 3; ++way) {
        const PairOutcome compared = compare(pair.one + settings, pair.other + settings,
                                             {kind, pair.when == SameWhen::all_content}, way,
                                             narrow ? recent : stream_tokens);
        evicted += compared.evicted;
        if (!compared.difference.empty()) return compared.difference;
      }
    }
  }
  return "";
}

}  // namespace kv
