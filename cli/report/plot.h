// `kvcheck plot`: one figure of a report for a paper or a slide.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command plot_command;

}  // namespace kv::cli
