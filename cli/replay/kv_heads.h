// What an attention dump does not say of itself: how many kv-heads its query heads share
// (--kv-heads), and whether its rows have learned sinks (--learned-sinks).
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/traces/files/dump.h"

namespace kv::cli {

inline constexpr Option kv_heads_option{
    .name = "kv-heads",
    .value = "N",
    .help =
        "how many kv-heads the heads of an attention dump (.npy, .npz) share: num_key_value_heads "
        "of the model [as the dump says, or one for each head]"};

inline constexpr Option learned_sinks_option{.name = "learned-sinks",
                                             .help =
                                                 "the rows of an attention dump (.npy, .npz) sum "
                                                 "to 1 with a sink that is no token, as those "
                                                 "of gpt-oss, so that their weights sum to less"};

// The options of a dump; an error if --kv-heads is not a number of heads.
Result<DumpOptions> dump_options(const Arguments& arguments);

// A note for a dump that does not give its kv-heads, if it has so many heads that a model with
// grouped-query attention is likely.
void say_kv_heads(const TraceInfo& info, Streams& streams);

}  // namespace kv::cli
