// Subjects in a process of their own: a program behind the line protocol, or a library loaded by a
// child of this process. What crashes or hangs there is a finding, and the battery continues.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/family.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/child_process.h"

namespace kv::properties {

struct RemoteOptions {
  double start_seconds = 60;  // for the first answer of a process: it may import much
  double seconds = 10;        // for every other; a slow subject has more for a large case
  bool strict = false;        // fields that the protocol does not know are complaints
  std::size_t longest_line = std::size_t{256} << 20U;  // bytes of an answer; more is a failure
};

// What a process says of itself.
struct Hello {
  std::string name;
  bool draws = false;    // leaves its chance to the draws it is given
  bool logits = false;   // wants the logits of each feed
  bool sizes = true;     // can be made with other sizes than the requested ones
  bool numbers = false;  // repeats the number of each request in its answer
  Setup requested{.sinks = 2, .recent = 4, .budget = 12};
};

// One process in conversation. Not thread-safe.
class Conversation {
 public:
  Conversation(std::unique_ptr<Child> child, const RemoteOptions& options)
      : child_(std::move(child)), options_(options) {}

  // Sends a request; answers what the subject draws; gives its answer to `read`. An error is what
  // the process died of, or what is wrong with its answer. `work` is the size of what is asked, in
  // any unit that is the same for all requests; 0: as little as can be.
  Result<void> ask(std::string_view request,
                   const DrawsOf* draws,
                   const std::function<void(const JsonAt&)>& read,
                   double work = 0);

  // Whether it can be asked on: it is alive and in step.
  [[nodiscard]] bool usable() const { return usable_ && child_->alive(); }

  // What the process has said without being asked: lines that would be taken for later answers.
  // Empty: nothing. Else it is of no more use.
  std::string unasked();

  [[nodiscard]] double slowest_seconds() const { return child_->slowest_seconds(); }

  void wait_at_most(double seconds) { options_.seconds = seconds; }

  // The most seconds that a unit of work took, in answers slow enough for this to be the work's.
  [[nodiscard]] double pace() const { return pace_; }

  // What was seen of other processes of the subject.
  void expect_pace(double pace) { pace_ = std::max(pace_, pace); }

  // From now on each request has a number, which its answer must repeat.
  void expect_numbers() { numbered_ = true; }

 private:
  Result<void> ask_once(std::string_view request,
                        const DrawsOf* draws,
                        const std::function<void(const JsonAt&)>& read,
                        double work);

  // How long an answer is waited for.
  [[nodiscard]] double patience(double work) const;

  // What is wrong with the number of an answer, which is taken out of it; empty: nothing.
  [[nodiscard]] std::string take_number(boost::json::value& answer) const;

  std::unique_ptr<Child> child_;
  RemoteOptions options_;
  bool numbered_ = false;
  std::int64_t number_ = 0;  // of the last request
  double pace_ = 0;
  bool started_ = false;
  bool usable_ = true;
};

Result<Hello> say_hello(Conversation& conversation);

// What a process declares for a setup.
struct Declared {
  Contract contract;
  std::optional<std::string> refused{};  // why there is none
};

Result<Declared> ask_contract(Conversation& conversation,
                              const Setup& setup,
                              const std::string& name);

struct RunOptions {
  const DrawsOf* draws = nullptr;  // null: of the setup's own seed
  bool logits = false;
};

// Runs the calls of `history.what` in as few requests as refusals allow, and fills the events. An
// error is the subject's failure; history holds what came before.
Result<void> converse(Conversation& conversation, const RunOptions& options, History& history);

// Parts of an event: why the call was refused, and what it did; `history` is asked for its places.
std::optional<std::string> read_refusal(const JsonAt& event);
Facts read_facts(const JsonAt& event, std::size_t queries, const History& history);

// A family whose subjects live where `start` starts a process.
using StartChild = std::function<Result<std::unique_ptr<Child>>()>;

Result<std::unique_ptr<Family>> make_remote_family(StartChild start, const RemoteOptions& options);

}  // namespace kv::properties
