// Bytes in less space, in a form that browsers read.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::reports {

// The zlib stream of RFC 1950 at the highest level, which DecompressionStream("deflate") of
// browsers reads. The same bytes give the same stream, with one version of zlib. Error: no memory.
Result<std::string> deflated(std::string_view bytes);

}  // namespace kv::reports
