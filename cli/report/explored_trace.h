// What kvcheck explore takes from a trace: its words, and the steps of caches, computed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::reports {
struct ExplorerTrace;
struct StoredRun;
}  // namespace kv::reports

namespace kv::cli {

// Which caches of each spec are replayed: --unit.
struct UnitChoice {
  enum class Kind { last_layer, one, all };

  Kind kind = Kind::last_layer;         // the first cache of the last recorded layer
  std::size_t layer = 0;                // for `one`: the layer's number in the model,
  std::size_t head = 0;                 // and the first head of the cache
  std::optional<std::uint64_t> seed{};  // --seed: of specs with several; empty: all of them
};

// Empty texts are options that are not given. Errors: `unit` is neither "all" nor LAYER/HEAD;
// `seed` is no seed.
Result<UnitChoice> unit_choice(std::string_view unit, std::string_view seed);

// The trace that `word` names, a file or a synthetic stream, with the steps of the selected caches
// whose residency the run recorded. Errors: those of the trace; the run did not replay it, by its
// checksum; no selected cache was recorded; the steps are not those that were recorded.
Result<reports::ExplorerTrace> explored_trace(const std::string& word,
                                              const reports::StoredRun& run,
                                              const UnitChoice& choice);

}  // namespace kv::cli
