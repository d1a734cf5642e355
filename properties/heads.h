// Where heads stand in Facts, and which of them share residents.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcheck/properties/subject.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv::properties {

// Sequences, their layers, their heads, the head fastest. Heads are query heads where each keeps
// residents of its own, else kv-heads.
struct Heads {
  Setup setup;
  Unit unit = Unit::kv_head;

  [[nodiscard]] std::size_t in_layer() const {
    return unit == Unit::head ? setup.query_heads() : setup.kv_heads;
  }

  [[nodiscard]] std::size_t count() const { return in_layer() * setup.layers * setup.sequences; }

  // How many follow each other that share residents.
  [[nodiscard]] std::size_t sharing() const {
    if (unit == Unit::layer) return setup.kv_heads;
    return unit == Unit::model ? std::size_t{setup.kv_heads} * setup.layers : 1;
  }

  // Query heads that a head stands for.
  [[nodiscard]] std::uint32_t group() const { return unit == Unit::head ? 1 : setup.group; }

  [[nodiscard]] Place place_of(std::size_t head) const {
    return {.sequence = static_cast<std::uint32_t>(head / in_layer() / setup.layers),
            .layer = static_cast<std::uint32_t>(head / in_layer() % setup.layers),
            .head = static_cast<std::uint32_t>(head % in_layer())};
  }

  // The reverse.
  [[nodiscard]] std::size_t index_of(const Place& place) const {
    return (std::size_t{place.sequence} * setup.layers + place.layer) * in_layer() + place.head;
  }

  // Requires Unit::head.
  [[nodiscard]] Payer payer_of(std::size_t head) const {
    const Place place = place_of(head);
    return {.sequence = place.sequence, .layer = place.layer, .query_head = place.head};
  }
};

}  // namespace kv::properties
