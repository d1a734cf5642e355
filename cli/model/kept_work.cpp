#include "kvcheck/cli/model/kept_work.h"

#include <memory>
#include <ostream>
#include <utility>

#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/progress.h"

namespace kv::cli {
namespace {

class KeptWorkRun {
 public:
  KeptWorkRun(const KeptWork& work, Streams& streams)
      : work_(work), streams_(streams), progress_(streams.err, streams.terminal && !work.quiet) {}

  Result<void> all() {
    if (!work_.results.empty()) {
      Result<RunToKeep> run = work_.about();
      if (!run) return run.error();
      auto begun = ResumableRun::begin(*run, streams_.err);
      if (!begun) return begun.error();
      run_ = *std::move(begun);
    }
    const Result<void> computed = guarded();
    progress_.clear();
    if (!computed) return failed(computed.error());
    return stored_and_written();
  }

 private:
  Result<void> guarded() {
    try {
      const InterruptGuard guard;
      const auto report = [this](double share, const std::string& what) {
        progress_.update(share, what);
        return !interrupted();
      };
      return work_.compute(report, run_.get());
    } catch (...) {
      if (run_ == nullptr) throw;
      run_->end();
      run_->note_kept();
      throw;
    }
  }

  Error failed(Error error) {
    if (interrupted()) error = io_error("interrupted");
    if (run_ != nullptr) run_->end(error);
    const std::string kept = run_ == nullptr ? "" : run_->kept_words();
    error.message += interrupted() && kept.empty() ? "; nothing was kept" : kept;
    return error;
  }

  Result<void> stored_and_written() {
    if (run_ != nullptr) {
      if (auto added = work_.store(run_->writer()); !added) return run_->not_stored(added.error());
    }
    // The run is complete when all outputs are: a kill before that leaves a run that --resume ends.
    const Result<void> written = work_.write();
    streams_.out << std::flush;
    if (run_ == nullptr) return written;
    if (const Result<void> done = run_->finish(); !done) return run_->not_stored(done.error());
    return written;
  }

  const KeptWork& work_;
  Streams& streams_;
  Progress progress_;
  std::unique_ptr<ResumableRun> run_;  // null without a results file
};

}  // namespace

Result<void> run_kept(const KeptWork& work, Streams& streams) {
  return KeptWorkRun(work, streams).all();
}

Result<void> write_text(const std::string& path, const std::string& text, Streams& streams) {
  if (path.empty()) return {};
  if (path != "-") return write_output(path, text);
  streams.out << text;
  return {};
}

}  // namespace kv::cli
