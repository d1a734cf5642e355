// token-classes and separators: select victims by the kind of word that a token is.
//
// Tokens of one class are kept before all others: content words for token-classes, punctuation and
// line ends for separators. While the middle holds tokens of other classes, the oldest of these is
// evicted. When only tokens of the kept class are left, the oldest of them is evicted
// (order=newest) or the newcomer is (order=oldest), so that the first ones are kept for good.
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
