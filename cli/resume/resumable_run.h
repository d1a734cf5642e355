// A run in a results file that keeps each finished part, so that --resume can continue it.
//
// The results file changes as if nothing were kept: whole traces, texts or timings enter it in
// order. Finished parts are in a file of their own beside it (reports/unfinished), which is removed
// when the run is complete. A run that continues computes everything again from the parts, so that
// the results file, JSON, CSV and tables have the bytes of an uninterrupted run.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/unfinished/unfinished_file.h"

namespace kv::cli {

struct RunToKeep {
  std::string results;             // the results file
  std::string command;             // the arguments that decide the numbers
  std::vector<std::string> items;  // of its inputs (cli/resume/run_inputs.h)
  bool resume = false;             // continue an unfinished run of the same command
  bool quiet = false;              // no notes
};

class ResumableRun final : public PartStore {
  // Only begin() can make one.
  class Key {
    friend class ResumableRun;
    Key() = default;
  };

 public:
  // Begins or continues a run. Notes on what was found, kept or dropped are written to `notes`,
  // which outlives the run. Errors: those of ResultsWriter; parts of other inputs, if the run is to
  // be continued; another file in their place. If parts cannot be kept, for example on a full disk,
  // a note says so and the run takes place.
  static Result<std::unique_ptr<ResumableRun>> begin(const RunToKeep& run, std::ostream& notes);

  ResumableRun(Key, reports::ResultsWriter writer, const RunToKeep& run, std::ostream& notes);
  ResumableRun(const ResumableRun&) = delete;
  ResumableRun& operator=(const ResumableRun&) = delete;
  ~ResumableRun() override;

  reports::ResultsWriter& writer() { return writer_; }

  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override;
  void keep(std::vector<KeptPart> parts) override;

  // How many finished parts a later run can use.
  [[nodiscard]] std::size_t parts() const;

  // The end of a message about a run that was cut short: "; 12 finished parts are kept in 'FILE',
  // and the same command with --resume continues from them". Empty if there are none.
  [[nodiscard]] std::string kept_words() const;

  // The error of the results file that could not take what was computed, with kept_words().
  [[nodiscard]] Error not_stored(Error error) const;

  // Says, for an exception that ends the run, what is kept.
  void note_kept() const;

  // Ends a run with an error. If that would end every later run too, because an input or a policy
  // is wrong, the parts are removed, and so is the run unless it holds something. Otherwise a run
  // without parts leaves the file as it was, or incomplete.
  void end(const Error& error);

  // Ends a run that was interrupted, or ran out of memory, in the second way.
  void end();

  // Marks the run complete and removes the parts.
  Result<void> finish();

 private:
  Result<void> open_parts(const RunToKeep& run);
  void note(const std::string& text) const;
  void note_what_was_found(const RunToKeep& run) const;
  void start_syncing();
  void forget_parts();

  reports::ResultsWriter writer_;
  std::ostream& notes_;
  bool quiet_;
  std::unique_ptr<reports::UnfinishedFile> file_;  // null if parts cannot be kept
  std::jthread syncs_;
};

// A part of a run with parts of its own, whose keys all begin with the same words.
class PartsUnder final : public PartStore {
 public:
  // `all` may be null; then nothing is kept. It outlives this object.
  PartsUnder(PartStore* all, std::string words) : all_(all), words_(std::move(words)) {}

  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override;
  void keep(std::vector<KeptPart> parts) override;

 private:
  PartStore* all_;
  std::string words_;
};

// The option of commands whose runs are resumable, and what their help says about it.
inline constexpr Option resume_option = {
    .name = "resume",
    .help =
        "continue an interrupted run of the same command in the file of -o; without one, begin"};

// Returns an error if --resume is given without -o.
Result<void> check_resume(const Arguments& arguments);

}  // namespace kv::cli
