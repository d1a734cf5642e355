// The explorer's page as text, without its data.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/explorer/explorer.h"

namespace kv::reports {

// The page with this title and these data, which are compressed. Error: no memory.
Result<std::string> page_with(std::string_view title, const ExplorerData& data);

}  // namespace kv::reports
