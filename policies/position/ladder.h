// ladder: each layer keeps other tokens of every run, and deeper layers keep later ones.
//
// A sweep passes over the middle from its oldest token on, in runs of keep + drop tokens. Of each
// run a layer keeps `keep` consecutive tokens. The start of these rises from layer to layer, from
// the first token of the run to the token at offset `drop`. With enough layers, every token of a
// run is thus kept in some of them. When less than a run is left, a new sweep begins at the oldest
// token again, among the tokens that the earlier sweeps have left: the older a token, the more
// sweeps it has survived. All heads of a layer keep the same tokens.
//
// In a model of L layers the paper's span of S layers and overlap O correspond to runs of 1 +
// ceil((L - S) / (S - O)) tokens, of which each layer keeps ceil(S / (S - O)), or all if there are
// no more. Its S = 16, O = 0 in 32 layers is keep=1,drop=1. With order=interleaved neighbouring
// layers begin at different tokens, in turn, so that the layers that keep a token are no longer
// adjacent.
//
// If all layers share one set of residents, that set uses the first layer's offset, and so does a
// trace of one layer. In a trace of some layers the last recorded layer counts as the model's last.
//
// A middle smaller than a run is one run of the tokens that are there, and at least one of them is
// evicted.
//
// Fed token by token with drop=1, order=interleaved and as many recent tokens as layers, the policy
// holds the tokens that the index arithmetic of the source's code holds. The default order, from
// shallow to deep layers, is our reading of the paper's abstract with the sizes of the code.
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
