// Commands that are interrupted while they run, and their outputs.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/tests/cli/run.h"

namespace kv::test {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more);

// The trace, model and text of the repository.
std::string a_trace();
std::string a_model();
std::string a_text();

// Commands that take a second or so, without -o and --threads.
Words long_replay();
Words long_eval();

// A folder for the outputs of one run.
struct Place {
  TemporaryFolder folder;

  // The command with its outputs there.
  [[nodiscard]] Words outputs(const Words& command, unsigned threads, bool resumes) const;

  // The file of finished parts; empty if there is none.
  [[nodiscard]] std::string parts() const;

  [[nodiscard]] std::size_t size_of_parts() const;
};

// Runs the program and sends it the signal as soon as it has kept parts of `more` bytes. Returns
// whether the signal ended it.
bool interrupt_when_grown(const Place& place, const Words& words, std::size_t more, int signal);

// The size of a results file with a run that holds nothing, which grows with the schema.
std::size_t empty_results_size();

// Runs the program and kills it as soon as the file has grown by `more` bytes, which may be in the
// middle of a write. Returns whether it was killed.
bool kill_when_grown(const std::string& file, const Words& words, std::size_t more);

// Runs the program and kills it after it has printed 4096 bytes. Returns whether it was killed.
bool kill_while_it_prints(const Words& words);

struct Outputs {
  std::string out;
  std::string results;
  std::string json;
  std::string csv;

  bool operator==(const Outputs&) const = default;
};

// The outputs of a command in its place, whose path in them is replaced by a word.
Outputs outputs_of(const Place& place, const Ran& ran);

// Those of an uninterrupted run in a place of its own.
Outputs clean_run(const Words& command);

}  // namespace kv::test
