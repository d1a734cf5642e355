// kvcheck hypotheses: verdicts on statements about results.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command hypotheses_command;

}  // namespace kv::cli
