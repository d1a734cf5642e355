#include "kvcheck/properties/cases/token_inputs.h"

#include <cstdint>

#include "kvcheck/sim/cache/rope_rotation.h"

namespace kv::properties {
namespace {

enum class Part : std::uint64_t { key = 1, value, query, token_class };

std::uint64_t hash_of(
    const Stream& stream, const Place& place, Part part, Token token, std::uint64_t number) {
  if (stream.kind == StreamKind::ties) return static_cast<std::uint64_t>(part);
  std::uint64_t hash = 0xD6E8FEB86659FD93U * (stream.seed + 1U);
  for (const std::uint64_t word :
       {static_cast<std::uint64_t>(part), std::uint64_t{place.sequence} + stream.first_sequence,
        std::uint64_t{place.layer}, std::uint64_t{place.head},
        static_cast<std::uint64_t>(token.position), static_cast<std::uint64_t>(token.variant),
        number}) {
    hash = (hash ^ (word + 1)) * 0xBF58476D1CE4E5B9U;
    hash ^= hash >> 29U;
  }
  return hash * 0x94D049BB133111EBU;
}

void add_vector(
    const Stream& stream, const Place& place, Part part, Token token, std::vector<float>& into) {
  for (std::size_t i = 0; i < input_dim; ++i) {
    const std::uint64_t eighths = hash_of(stream, place, part, token, i) >> 58U;
    into.push_back(static_cast<float>(eighths) / 8 - 4);
  }
}

// As attention mirrors the heads of a group (Stream::mirrored_group).
std::uint32_t mirrored(const Stream& stream, std::uint32_t head) {
  const std::uint32_t group = stream.mirrored_group;
  if (group <= 1) return head;
  const std::uint32_t within = head % group;
  return head - within + (group - 1 - within);
}

}  // namespace

InputUnit input_unit(Place place, Unit unit, const Setup& setup) {
  if (unit != Unit::head) {
    return {.place = place, .first = place.head * setup.group, .heads = setup.group};
  }
  const std::uint32_t head = place.head;
  place.head = head / setup.group;
  return {.place = place, .first = head, .heads = 1};
}

const Rotation& input_rotation() {
  static const RopeRotation rotation({RopeLayout::interleaved, input_dim, 10000});
  return rotation;
}

TokenInputs token_inputs(const Stream& stream, std::span<const InputUnit> units, Token token) {
  TokenInputs out;
  for (const InputUnit& unit : units) {
    add_vector(stream, unit.place, Part::key, token, out.keys);
    add_vector(stream, unit.place, Part::value, token, out.values);
    for (std::uint32_t i = 0; i < unit.heads; ++i) {
      Place payer = unit.place;
      payer.head = mirrored(stream, unit.first + i);
      add_vector(stream, payer, Part::query, token, out.queries);
    }
  }
  // A word is the same word in every layer and head.
  const Place place{.sequence = units.front().place.sequence, .layer = 0, .head = 0};
  const std::uint64_t chance = hash_of(stream, place, Part::token_class, token, 0) >> 62U;
  out.token_class = chance < 2    ? TokenClass::content
                    : chance == 2 ? TokenClass::function
                                  : TokenClass::separator;
  return out;
}

}  // namespace kv::properties
