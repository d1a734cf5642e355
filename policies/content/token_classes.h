// token-classes and separators: what kind of word a token is decides.
//
// One class of words is kept before all others: content words for token-classes, punctuation and
// line ends for separators. While a token of another class is in the middle, the oldest of these
// goes. When only kept words are left, the oldest of them goes (order=newest), or the newcomer
// does (order=oldest), so that the first ones stay for good.
//
// Source: token-classes: a reimplementation of StreamingLLM on Pythia-2.8b with compression,
// compress/pythia_streaming_compress.py, mode "pos". separators: Chen et al., "SepLLM: Accelerate
// Large Language Models by Compressing One Segment into One Separator", ICML 2025,
// arXiv:2412.12094; code HKUDS/SepLLM.
// Differs: token-classes: there the oldest content words stay (order=oldest), and a list of tokens
// that all layers share is thinned by the first, so that all others fall back to recency; the list
// of function words is ours (base/token_class.h). separators: there words between separators go at
// once; here they stay while there is room.
// Cost: O(middle) time a decision; 1 byte per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Keeps tokens of that class before others.
std::unique_ptr<Policy> make_token_classes(TokenClass kept, bool oldest_first);

PolicyEntry token_classes_policy();
PolicyEntry separators_policy();

}  // namespace kv
