// Which results of a file `kvcheck compare` compares.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// The complete runs of every file of the command line, or of one file that which --run names.
// Errors: the file cannot be read, or has no such run; two files, and an option that is for one.
// Requires --run, --against and --means in the table.
Result<std::vector<std::vector<reports::StoredRun>>> files_of(const Arguments& arguments);

// The measures that --measure names, or all that comparisons are of; with --layer those of replays,
// and with --group those of tasks.
// Error: no such measure, with the nearest name.
Result<std::vector<reports::Measure>> measures_of(const Arguments& arguments);

// The canonical texts of the specs of any of the files that `words` mean; `files` are the runs of
// each. Error: there is none, with the nearest name. `option` is the one that gives the words.
Result<std::vector<std::string>> specs_meant(
    std::string_view option,
    const std::string& words,
    std::span<const std::vector<reports::StoredRun>> files);

// Those of the named specs that have the measure; all of them if none has it, so that nothing is
// compared with another one. Error: two of them would be what the specs of one budget are compared
// with.
Result<std::vector<std::string>> measured_among(const std::vector<std::string>& named,
                                                const reports::MeasuredTexts& all);

// From --policies, --window, --length, --layer and --group. `files` are the runs of each file.
// Errors: the one file has evaluations in windows of several sizes, and --window says none; a
// measure is of timings, and the files have several lengths of which --length says none, or not the
// one that it says; --length, but no such measure; --layer, and a measure that is not of replays,
// or replays whose heads are not kept or not of this layer; --group, and a measure that is not of
// tasks, or items of which none is in it; a word of --policies that means no spec. Requires all
// five options in the table.
Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const std::vector<reports::StoredRun>> files,
                                        std::span<const reports::Measure> measures);

}  // namespace kv::cli
