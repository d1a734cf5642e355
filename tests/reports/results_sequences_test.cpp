// A results file after any sequence of runs, against the same runs in memory.
#include <rapidcheck.h>

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

// In memory where the system has files there: a disk would wait for each of a thousand commits.
class Folder {
 public:
  Folder() : path_(std::filesystem::is_directory("/dev/shm") ? "/dev/shm/" : ::testing::TempDir()) {
    path_ += "kvcheck-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// How a writer ends: at once as a killed process does, or as it says.
enum class End { lost, finished, discarded, left };

// One opening of the file.
struct Opening {
  bool resumes = false;
  std::string command;
  std::string adds;  // 't': a trace, 'e': an evaluation, 's': speeds; 'x': another trace
  End end = End::lost;
};

void showValue(const Opening& opening, std::ostream& out) {
  constexpr std::array<std::string_view, 4> ends = {"lost", "finished", "discarded", "left"};
  out << (opening.resumes ? "resume " : "begin ") << opening.command << " +" << opening.adds << ' '
      << ends[static_cast<std::size_t>(opening.end)];
}

// What a run holds: the names of its traces and texts, in order.
struct Run {
  std::string command;
  bool complete = false;
  std::vector<std::string> traces{};
  std::vector<std::string> texts{};
  std::size_t timings = 0;

  bool operator==(const Run&) const = default;
};

ReplayResult trace_named(const std::string& name) {
  static const ReplayResult small = testing::fake_replay(testing::small_fake());
  ReplayResult result = small;
  result.trace.name = name;
  result.trace.checksum = std::hash<std::string>()(name);
  return result;
}

ClosedLoopResult text_named(const std::string& name) {
  ClosedLoopResult result = testing::fake_evaluation(3, false);
  result.text = name;
  return result;
}

// The file as it ought to be.
class Model {
 public:
  // Opens; the index of the run that is written.
  std::size_t open(const Opening& opening) {
    created_ = !exists_;
    exists_ = true;
    for (std::size_t i = runs_.size(); opening.resumes && i-- > 0;) {
      if (!runs_[i].complete && runs_[i].command == opening.command) return i;
    }
    runs_.push_back({opening.command});
    return runs_.size() - 1;
  }

  Run& run(std::size_t index) { return runs_[index]; }

  void end(std::size_t index, End how) {
    if (how == End::finished) runs_[index].complete = true;
    const bool removed = how == End::discarded || (how == End::left && created_);
    if (removed) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index));
    if (removed && created_) exists_ = false;
  }

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

  [[nodiscard]] bool exists() const { return exists_; }

 private:
  std::vector<Run> runs_;
  bool exists_ = false;
  bool created_ = false;  // by the opening under way
};

// Adds one result; what the run holds in that place already must be the same.
template <typename Make>
void add_named(ResultsWriter& writer,
               std::vector<std::string>& held,
               std::size_t& at,
               const std::string& name,
               Make make) {
  const bool fits = at >= held.size() || held[at] == name;
  RC_ASSERT(static_cast<bool>(writer.add(make(name))) == fits);
  if (!fits) return;
  if (at == held.size()) held.push_back(name);
  ++at;
}

void carry_out(const Opening& opening, const std::string& path, Model& model) {
  auto writer = opening.resumes ? ResultsWriter::resume(path, opening.command)
                                : ResultsWriter::begin(path, opening.command);
  RC_ASSERT(static_cast<bool>(writer));
  const std::size_t before = model.runs().size();
  const std::size_t index = model.open(opening);
  RC_ASSERT(writer->resumed() == (index < before));
  Run& run = model.run(index);
  std::size_t traces = 0;
  std::size_t texts = 0;
  std::size_t timings = 0;
  for (const char kind : opening.adds) {
    if (kind == 'e') {
      add_named(*writer, run.texts, texts, "text " + std::to_string(texts), text_named);
    } else if (kind == 's') {
      RC_ASSERT(static_cast<bool>(writer->add(testing::fake_timing())));
      run.timings = std::max(run.timings, ++timings);
    } else {
      const std::string name = (kind == 'x' ? "other " : "trace ") + std::to_string(traces);
      add_named(*writer, run.traces, traces, name, trace_named);
    }
    RC_ASSERT(writer->traces() == run.traces.size());
  }
  if (opening.end == End::finished) RC_ASSERT(static_cast<bool>(writer->finish()));
  if (opening.end == End::discarded) RC_ASSERT(static_cast<bool>(writer->discard()));
  if (opening.end == End::left) writer->leave();
  model.end(index, opening.end);
}

// What the file holds, run by run.
std::vector<Run> runs_in(const std::string& path) {
  std::vector<Run> runs;
  const auto listed = list_runs(path);
  RC_ASSERT(static_cast<bool>(listed));
  for (const RunSummary& summary : *listed) {
    const auto stored = read_run(path, summary.id);
    RC_ASSERT(static_cast<bool>(stored));
    Run& run = runs.emplace_back(Run{summary.command, summary.complete});
    for (const ReplayResult& trace : stored->traces) {
      run.traces.push_back(trace.trace.name);
      RC_ASSERT(trace.cells.size() == trace_named("").cells.size());
    }
    for (const ClosedLoopResult& text : stored->evaluations) run.texts.push_back(text.text);
    run.timings = stored->timings.size();
    RC_ASSERT(summary.traces == run.traces.size());
    RC_ASSERT(summary.evaluations == run.texts.size());
    RC_ASSERT(summary.timings == run.timings);
  }
  return runs;
}

rc::Gen<Opening> openings() {
  return rc::gen::build<Opening>(
      rc::gen::set(&Opening::resumes),
      rc::gen::set(&Opening::command, rc::gen::element<std::string>("a", "b")),
      rc::gen::set(&Opening::adds, rc::gen::map(rc::gen::container<std::string>(
                                                    rc::gen::element('t', 't', 't', 'e', 's', 'x')),
                                                [](std::string all) {
                                                  all.resize(std::min<std::size_t>(all.size(), 3));
                                                  return all;
                                                })),
      rc::gen::set(&Opening::end, rc::gen::element(End::lost, End::lost, End::finished,
                                                   End::discarded, End::left)));
}

TEST(ResultsSequences, LeaveInTheFileWhatTheRunsAdded) {
  const Folder folder;
  const std::string path = folder / "run.db";
  EXPECT_TRUE(rc::check([&] {
    auto sequence = *rc::gen::container<std::vector<Opening>>(openings());
    sequence.resize(std::min<std::size_t>(sequence.size(), 6));
    std::filesystem::remove(path);
    Model model;
    for (const Opening& opening : sequence) {
      carry_out(opening, path, model);
      RC_ASSERT(std::filesystem::exists(path) == model.exists());
      if (model.exists()) RC_ASSERT(runs_in(path) == model.runs());
    }
  }));
}

// However often it was cut, a run that comes to its end leaves the bytes of one that was not.
TEST(ResultsSequences, EndInTheBytesOfAnUninterruptedRun) {
  const Folder folder;
  EXPECT_TRUE(rc::check([&] {
    auto kinds = *rc::gen::container<std::string>(rc::gen::element('t', 'e', 's'));
    kinds.resize(std::min<std::size_t>(kinds.size(), 4));
    auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 5));
    cuts.resize(std::min<std::size_t>(cuts.size(), 3));
    cuts.push_back(kinds.size());
    for (const char* name : {"whole.db", "cut.db"}) std::filesystem::remove(folder / name);
    Model whole;
    carry_out({false, "a", kinds, End::finished}, folder / "whole.db", whole);
    Model cut;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const bool last = i + 1 == cuts.size();
      carry_out({i > 0, "a", kinds.substr(0, cuts[i]), last ? End::finished : End::lost},
                folder / "cut.db", cut);
    }
    RC_ASSERT(test::read_text(folder / "cut.db") == test::read_text(folder / "whole.db"));
  }));
}

}  // namespace
}  // namespace kv::reports
