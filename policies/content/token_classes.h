// token-classes and separators: what kind of word a token is decides.
//
// One class of words is kept before all others: content words for token-classes, punctuation and
// line ends for separators. While a token of another class is in the middle, the oldest of these
// goes. When only kept words are left, the oldest of them goes (order=newest), or the newcomer
// does (order=oldest), so that the first ones stay for good.
#pragma once

#include <memory>

#include "kvcheck/base/token_class.h"
#include "kvcheck/policies/entry.h"

namespace kv {

// Keeps tokens of that class before others.
std::unique_ptr<Policy> make_token_classes(TokenClass kept, bool oldest_first);

PolicyEntry token_classes_policy();
PolicyEntry separators_policy();

}  // namespace kv
