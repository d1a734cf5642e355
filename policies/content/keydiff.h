// keydiff: the token whose key is most like the others goes.
//
// Keys are made unit vectors; their mean over all residents, sinks and recent tokens among them, is
// the anchor. A token's score is the cosine between its key and the anchor, the mean over the
// unit's kv-heads; the highest goes, among equals the older.
//
// A key of length 0 is similar to nothing.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_keydiff();

PolicyEntry keydiff_policy();

}  // namespace kv
