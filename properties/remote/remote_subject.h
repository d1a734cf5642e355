// A subject in another process, called call by call: what Family::make gives, for laws that do not
// run whole cases.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "properties/remote/remote_family.h"

namespace kv {

// Processes that wait for work. Thread-safe.
class ConversationPool {
 public:
  ConversationPool(StartChild start, const RemoteOptions& options)
      : start_(std::move(start)), options_(options) {}

  // One that waits, or a new one.
  Result<std::unique_ptr<Conversation>> take();

  // Drops the dead.
  void give(std::unique_ptr<Conversation> conversation);

 private:
  StartChild start_;
  RemoteOptions options_;
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

}  // namespace kv
