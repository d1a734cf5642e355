// kvcheck selftest: the battery tried on mutants and on right subjects.
#pragma once

#include <span>
#include <string>

#include "kvcheck/cli/options/command.h"
#include "kvcheck/properties/selftest/selftest.h"

namespace kv::cli {

extern const Command selftest_command;

// The command for the mutants and right subjects of `options`; its other fields come from the
// words.
Result<Outcome> selftest_of(properties::SelftestOptions options,
                            std::span<const std::string> given,
                            Streams& streams);

}  // namespace kv::cli
