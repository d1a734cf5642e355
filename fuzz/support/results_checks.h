// What the program does with the runs of a results file.
#pragma once

#include <string>

namespace kv::fuzz {

// The path of a small right results file with a replay, an evaluation and timings, which is copied
// anew at each call under that name.
std::string right_results(const std::string& name);

// Lists and reads the runs of the file, makes tables, figures and exports of them, and writes them
// to another file, from which they read back equal. Returns whether the file could be read.
bool try_results(const std::string& path);

}  // namespace kv::fuzz
