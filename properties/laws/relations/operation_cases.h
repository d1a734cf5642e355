// The cases that laws on operations make of the case at hand.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/case.h"

namespace kv::properties {

// Tokens fed, taken back, and the rest of the stream fed; and the same as if they had never been
// fed. The first truncate on branch 0 that takes back a part says where the cut is, or the first.
struct Rollback {
  std::vector<Call> with;
  std::size_t at = 0;  // the truncate's index in `with`
  std::vector<Call> without;
  std::size_t from = 0;  // what `without` does from here on, `with` is to do after `at`
  std::int64_t length = 0;
  std::int64_t junk = 0;  // tokens taken back
};

// An error where the case has no truncate that takes anything back.
Result<Rollback> rollback_of(const Case& what);

}  // namespace kv::properties
