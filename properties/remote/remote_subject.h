// A subject in another process, called call by call: what Family::make gives, for laws that do not
// run whole cases.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kvcheck/properties/remote/remote_family.h"

namespace kv::properties {

// Processes that wait for work. Thread-safe.
class ConversationPool {
 public:
  ConversationPool(StartChild start, const RemoteOptions& options)
      : start_(std::move(start)), options_(options) {}

  // One that waits, or a new one.
  Result<std::unique_ptr<Conversation>> take();

  // Drops those that are of no more use.
  void give(std::unique_ptr<Conversation> conversation);

  // From now on a new process says hello before anything else, so that its start is not taken for
  // the time of its first case.
  void greet_newcomers();

  // After a hang: from now on no answer is waited for longer than ten times the slowest that came,
  // or a second.
  void lose_patience();

 private:
  StartChild start_;
  RemoteOptions options_;
  bool greets_ = false;
  double slowest_ = 0;  // seconds, of an answer
  double pace_ = 0;     // seconds of a unit of work, the most
  std::mutex mutex_;
  std::vector<std::unique_ptr<Conversation>> waiting_;
};

struct RemoteSubjectOptions {
  std::shared_ptr<ConversationPool> pool;
  Setup setup;
  Contract contract;
  DrawsOf draws;  // null: of the setup's own seed
  bool logits = false;
};

// Throws SubjectFailed from its calls.
std::unique_ptr<Subject> make_remote_subject(const RemoteSubjectOptions& options);

}  // namespace kv::properties
