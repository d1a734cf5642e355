// The rotation of each recorded layer of a trace.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kvcheck/sim/cache/rope.h"
#include "kvcheck/sim/cache/rope_rotation.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The angle per position of each pair of that layer, in radians; empty if it does not rotate.
std::vector<double> frequencies_of(const TraceInfo& info, std::size_t layer);

// How many tables of angles a replay of the trace holds: layers that rotate alike share one.
std::size_t different_rotations(const TraceInfo& info);

// Layers are indices into info.layers.
class TraceRotations {
 public:
  // For the positions 0 to positions - 1.
  TraceRotations(const TraceInfo& info, std::size_t positions);

  [[nodiscard]] const RopeTable& table(std::size_t layer) const { return of(layer).table; }

  // The same, as policies see it.
  [[nodiscard]] const RopeRotation& shown(std::size_t layer) const { return of(layer).shown; }

 private:
  struct One {
    One(const Rope& rope, const std::vector<double>& frequencies, std::size_t positions)
        : table(rope, frequencies, positions), shown(rope, frequencies) {}

    RopeTable table;
    RopeRotation shown;
  };

  [[nodiscard]] const One& of(std::size_t layer) const { return *rotations_[by_layer_[layer]]; }

  std::vector<std::unique_ptr<const One>> rotations_;
  std::vector<std::size_t> by_layer_;
};

}  // namespace kv
