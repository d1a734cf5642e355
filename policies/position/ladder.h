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
// Source: Shi et al., "LaCache: Ladder-Shaped KV Caching for Efficient Long-Context Modeling of
// Large Language Models", ICML 2025, arXiv:2507.14204; code GATECH-EIC/LaCache (its kv_cache.py),
// which has order=interleaved and 4 sinks, and leaves as many of the newest tokens alone as there
// are layers (here recent).
// Differs: who leaves a run goes one by one, as room is needed, there all at once; so the cache is
// always full, and its size is not raised by half of what a run loses. With drop=1 nothing differs:
// fed token by token with order=interleaved and as many recent tokens as layers, it holds what the
// code's arithmetic of indices holds. Where the layers of a token begin by default is our reading
// of the paper's abstract (from shallow to deep) with the code's sizes.
// Cost: O(1) time a token; two counters.
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
