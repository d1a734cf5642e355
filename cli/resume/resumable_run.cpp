#include "kvcheck/cli/resume/resumable_run.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <ostream>
#include <system_error>
#include <utility>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/resume/run_inputs.h"

namespace kv::cli {
namespace {

std::string counted_parts(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " finished part" : " finished parts");
}

void sync_until(const std::stop_token& stop, reports::UnfinishedFile& file) {
  std::mutex mutex;
  std::condition_variable_any asked_to_stop;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    asked_to_stop.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    if (!stop.stop_requested()) file.sync();
  }
}

}  // namespace

Result<std::unique_ptr<ResumableRun>> ResumableRun::begin(const RunToKeep& run,
                                                          std::ostream& notes) {
  using reports::ResultsWriter;
  Result<ResultsWriter> writer = run.resume ? ResultsWriter::resume(run.results, run.command)
                                            : ResultsWriter::begin(run.results, run.command);
  if (!writer) return writer.error();
  auto begun = std::make_unique<ResumableRun>(Key(), *std::move(writer), run, notes);
  if (auto opened = begun->open_parts(run); !opened) {
    // A run that was found is not this call's to remove.
    if (!begun->writer_.resumed()) static_cast<void>(begun->writer_.discard());
    return opened.error();
  }
  begun->note_what_was_found(run);
  begun->start_syncing();
  return begun;
}

ResumableRun::ResumableRun(Key /*key*/,
                           reports::ResultsWriter writer,
                           const RunToKeep& run,
                           std::ostream& notes)
    : writer_(std::move(writer)), notes_(notes), quiet_(run.quiet) {}

ResumableRun::~ResumableRun() {
  if (file_ == nullptr) return;
  syncs_ = {};
  if (file_->parts() == 0) {
    file_->remove();
  } else {
    file_->sync();
  }
}

Result<void> ResumableRun::open_parts(const RunToKeep& run) {
  const Result<std::string> identity = identity_of_run(run.command, run.items);
  if (!identity) return identity.error();
  auto file = reports::UnfinishedFile::open(
      reports::unfinished_path(run.results, run.command), *identity,
      run.resume ? reports::EarlierParts::used : reports::EarlierParts::kept);
  if (file) {
    file_ = *std::move(file);
    return {};
  }
  // What is there belongs to other inputs or to another program, and must not be overwritten.
  if (file.error().kind == Error::Kind::malformed) return file.error();
  note("finished parts cannot be kept: " + file.error().message);
  return {};
}

void ResumableRun::note(const std::string& text) const {
  if (!quiet_) notes_ << "Note: " << printable(text) << ".\n";
}

void ResumableRun::note_what_was_found(const RunToKeep& run) const {
  const std::size_t found = file_ == nullptr ? 0 : file_->found();
  if (file_ != nullptr && !file_->dropped().empty()) {
    note(file_->dropped() + "; what is missing is computed again");
  }
  if (run.resume && found == 0 && !writer_.resumed()) {
    note("'" + run.results + "' holds no unfinished run of this command; a new one begins");
  } else if (run.resume) {
    note("an interrupted run in '" + run.results + "' continues, with " + counted_parts(found));
  } else if (found > 0) {
    note("'" + file_->path() + "' keeps " + counted_parts(found) +
         " of an interrupted run of this command, which --resume would use");
  }
}

// A second of work is what a loss of power may cost. The file is flushed beside the work: to flush
// it after each part would slow down a replay of many small parts.
void ResumableRun::start_syncing() {
  if (file_ == nullptr) return;
  try {
    syncs_ = std::jthread([file = file_.get()](const std::stop_token& stop) {
      try {
        sync_until(stop, *file);
      } catch (const std::exception&) {
        // No memory even for the wait. It must not end the program from within the thread.
      }
    });
  } catch (const std::system_error&) {
    // A machine without threads to spare: the system writes the parts out in its own time.
  }
}

std::optional<std::span<const std::byte>> ResumableRun::find(const std::string& key) const {
  if (file_ == nullptr) return std::nullopt;
  return file_->find(key);
}

void ResumableRun::keep(std::vector<KeptPart> parts) {
  if (file_ != nullptr) file_->keep(std::move(parts));
}

std::size_t ResumableRun::parts() const {
  return file_ == nullptr ? 0 : file_->parts();
}

std::string ResumableRun::kept_words() const {
  if (parts() == 0) return {};
  return "; " + counted_parts(parts()) + (parts() == 1 ? " is" : " are") + " kept in '" +
         file_->path() + "', and the same command with --resume continues from there";
}

Error ResumableRun::not_stored(Error error) const {
  error.message += kept_words();
  return error;
}

void ResumableRun::note_kept() const {
  if (parts() > 0) note(kept_words().substr(std::string_view("; ").size()));
}

void ResumableRun::end(const Error& error) {
  // A full disk or a file that another program holds may be different next time.
  if (error.kind == Error::Kind::io || error.kind == Error::Kind::busy) return end();
  forget_parts();
  if (writer_.traces() == 0) static_cast<void>(writer_.discard());
}

void ResumableRun::end() {
  if (parts() > 0 || writer_.traces() > 0) return;
  forget_parts();
  writer_.leave();
}

Result<void> ResumableRun::finish() {
  if (auto done = writer_.finish(); !done) return done;
  if (file_ != nullptr && !file_->failure().empty()) {
    note("not all finished parts could be kept: " + file_->failure());
  }
  forget_parts();
  return {};
}

void ResumableRun::forget_parts() {
  if (file_ == nullptr) return;
  syncs_ = {};
  file_->remove();
  file_ = nullptr;
}

std::optional<std::span<const std::byte>> PartsUnder::find(const std::string& key) const {
  if (all_ == nullptr) return std::nullopt;
  return all_->find(words_ + " " + key);
}

void PartsUnder::keep(std::vector<KeptPart> parts) {
  if (all_ == nullptr) return;
  for (KeptPart& part : parts) part.key.insert(0, words_ + " ");
  all_->keep(std::move(parts));
}

Result<void> check_resume(const Arguments& arguments) {
  if (!arguments.given("resume") || !arguments.value("output").empty()) return {};
  return usage_error("--resume continues the run in a results file; expected -o FILE, too");
}

}  // namespace kv::cli
