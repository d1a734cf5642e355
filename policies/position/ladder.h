// ladder: layers keep different tokens of each run, the deeper the later ones.
//
// A sweep goes over the middle from its oldest token on, in runs of keep + drop tokens. Of each run
// a layer keeps `keep` tokens in a row, and where they begin rises from layer to layer, from the
// run's first token to the one that `drop` come before: a ladder. So every token of a run stays in
// some layers, if there are enough. When less than a run is left, a new sweep begins at the oldest
// token again, among what the last ones have left: the older a token, the more sweeps it has
// survived. All heads of a layer keep the same tokens.
//
// In a model of L layers the paper's span of S layers and overlap O are runs of 1 + ceil((L - S) /
// (S - O)) tokens, of which each layer keeps ceil(S / (S - O)), or all if there are no more: its S
// = 16, O = 0 in 32 layers is keep=1,drop=1. With order=interleaved neighbouring layers begin at
// different tokens, in turn, so that the layers of a token are no longer next to each other.
//
// Where all layers share one set of residents they stand on the first rung, and so does a trace of
// one layer; in a trace of some layers the last recorded one counts as the model's last.
//
// A middle smaller than a run is a run of what is there, and loses one token of it at least.
//
// Fed token by token with drop=1, order=interleaved and as many recent tokens as layers, it holds
// what the code's arithmetic of indices holds. Where the layers of a token begin by default is our
// reading of the paper's abstract (from shallow to deep) with the code's sizes.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class LadderOrder { rising, interleaved };

// Requires keep >= 1 and drop >= 1.
std::unique_ptr<Policy> make_ladder(std::size_t keep, std::size_t drop, LadderOrder order);

PolicyEntry ladder_policy();

}  // namespace kv
