#include "kvcheck/cli/replay/kv_heads.h"

#include <ostream>
#include <string>

#include "kvcheck/base/text/printable.h"

namespace kv::cli {
namespace {

// The smallest models with grouped queries that are in common use have 8 query heads (Gemma 3 1B
// has 4, but it has one kv-head and windows that a dump cannot state).
constexpr std::size_t fewest_grouped = 8;

}  // namespace

Result<DumpOptions> dump_options(const Arguments& arguments) {
  DumpOptions options{.learned_sinks = arguments.given("learned-sinks")};
  if (!arguments.given("kv-heads")) return options;
  const auto count = arguments.count("kv-heads", 1, 65536);
  if (!count) return count.error();
  options.kv_heads = static_cast<std::size_t>(**count);
  return options;
}

void say_kv_heads(const TraceInfo& info, Streams& streams) {
  if (info.query_heads < fewest_grouped) return;
  streams.err << "Note: '" << printable_line(info.name) << "' does not say which of its "
              << info.query_heads
              << " heads share keys, so each has a cache of its own; if the model groups its "
                 "queries, give its number of kv-heads with --kv-heads.\n";
}

}  // namespace kv::cli
