#include "kvcheck/properties/stream.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/text/text.h"

namespace kv::properties {
namespace {

constexpr std::array<StreamKind, 10> kinds = {
    StreamKind::random, StreamKind::ties,    StreamKind::sink,  StreamKind::recency,
    StreamKind::hitter, StreamKind::one_hot, StreamKind::drift, StreamKind::unscored,
    StreamKind::fixed,  StreamKind::behind};

constexpr std::array<std::string_view, 10> words = {"random", "ties",    "sink",  "recency",
                                                    "hitter", "one-hot", "drift", "unscored",
                                                    "fixed",  "behind"};

constexpr float strong = 12;     // a logit that leaves the others less than e^-12 each
constexpr float nothing = -200;  // one that leaves itself exactly 0 beside any other

std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) {
  hash = (hash ^ (part + 1)) * 0xBF58476D1CE4E5B9U;
  return hash ^ (hash >> 29U);
}

// The payer under this stream, as a hash; the same for all keys that a query reads.
std::uint64_t hash_of(const Stream& stream, const Payer& payer) {
  Payer reader = payer;
  if (stream.mirrored_group > 1) {
    const std::uint32_t group = stream.mirrored_group;
    const std::uint32_t within = reader.query_head % group;
    reader.query_head = reader.query_head - within + (group - 1 - within);
  }
  reader.sequence += stream.first_sequence;
  const auto is = [](std::int32_t requested, std::uint32_t own) {
    return requested < 0 || static_cast<std::uint32_t>(requested) == own;
  };
  const bool any = stream.disturbed_sequence >= 0 || stream.disturbed_layer >= 0 ||
                   stream.disturbed_query_head >= 0;
  const bool disturbed = any && is(stream.disturbed_sequence, payer.sequence) &&
                         is(stream.disturbed_layer, payer.layer) &&
                         is(stream.disturbed_query_head, payer.query_head);
  const std::uint64_t begin =
      0x9E3779B97F4A7C15U * (stream.seed + 1U) + (disturbed ? 0x5bd1e995U : 0U);
  return mixed(mixed(mixed(begin, reader.sequence), reader.layer), reader.query_head);
}

// What a payer finds of a token by chance, in [0, 1): a hash, so that nothing is stored.
float taste(std::uint64_t payer, Token query, Token key) {
  std::uint64_t hash = payer;
  for (const Token token : {query, key}) {
    hash = mixed(hash, static_cast<std::uint64_t>(token.position));
    hash = mixed(hash, static_cast<std::uint64_t>(token.variant));
  }
  hash *= 0x94D049BB133111EBU;
  return static_cast<float>(hash >> 40U) / 16777216.0F;
}

// Whether the query pays nothing to the key, which may become the one that it stands for.
bool pays_nothing(const Stream& stream, Token query, Token& key) {
  if (query.position > stream.until) return false;
  const auto planted = static_cast<std::int32_t>(stream.planted);
  if (key.position != 0) return planted > 0 && key.position == planted;
  key.position = planted;
  return planted == 0 || planted > query.position;
}

float logit_of(const Stream& stream, std::uint64_t payer, Token query, Token key) {
  if (pays_nothing(stream, query, key)) return nothing;
  const float chance = taste(payer, query, key);
  const auto distance = static_cast<float>(query.position - key.position);
  const auto planted = static_cast<std::int32_t>(stream.planted);
  switch (stream.kind) {
    case StreamKind::random:
      return 4 * chance;
    case StreamKind::ties:
      return 0;
    case StreamKind::sink:
      return key.position == 0 ? strong : chance;
    case StreamKind::recency:
      return -distance / 4 + chance;
    case StreamKind::hitter:
      return key.position == planted ? strong : chance;
    case StreamKind::one_hot: {
      const float pick = taste(payer, query, {});
      const auto favourite =
          static_cast<std::int32_t>(pick * static_cast<float>(query.position + 1));
      return key.position == favourite ? strong : chance;
    }
    case StreamKind::drift: {
      const std::int32_t phase = query.position / 8;
      return taste(payer, {phase, 0}, key) > 0.75F ? strong / 2 : chance;
    }
    case StreamKind::unscored:
      return query.position < planted || key.position < planted ? 0 : 4 * chance;
    case StreamKind::fixed:
      // Alike for eight neighbours: a score that is shared among near ones is no less just.
      return 3 * taste(payer, {}, {key.position / 8, key.variant});
    case StreamKind::behind:
      if (key.position < planted) return nothing;
      query.position -= planted;
      key.position -= planted;
      return 4 * taste(payer, query, key);
  }
  return 0;
}

}  // namespace

float Stream::logit(const Payer& payer, Token query, Token key) const {
  return logit_of(*this, hash_of(*this, payer), query, key) + offset;
}

void visible_mass(const Stream& stream,
                  const Payer& payer,
                  Token query,
                  std::span<const Token> keys,
                  std::span<float> out) {
  const std::uint64_t hash = hash_of(stream, payer);
  float most = -1e30F;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out[i] = logit_of(stream, hash, query, keys[i]) + stream.offset;
    most = std::max(most, out[i]);
  }
  double sum = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out[i] = std::exp(out[i] - most);
    sum += static_cast<double>(out[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out[i] = static_cast<float>(static_cast<double>(out[i]) / sum);
  }
}

std::string_view name_of(StreamKind kind) {
  return words[static_cast<std::size_t>(kind)];
}

std::span<const StreamKind> stream_kinds() {
  return kinds;
}

Result<StreamKind> stream_kind_of(std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    return usage_error(unknown_word("stream", word, words));
  }
  return kinds[static_cast<std::size_t>(found - words.begin())];
}

}  // namespace kv::properties
