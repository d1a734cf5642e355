#include "kvcheck/properties/stop.h"

#include <atomic>

namespace kv::properties {
namespace {

// Not a parameter, because signals concern the whole process, and what waits is far below what
// knows of them: subjects, trials and samplers pass no request on.
std::atomic<bool (*)()> question = nullptr;

}  // namespace

StopWhen::StopWhen(bool (*asked)()) {
  question = asked;
}

StopWhen::~StopWhen() {
  question = nullptr;
}

bool may_be_stopped() {
  return question != nullptr;
}

bool asked_to_stop() {
  bool (*const asked)() = question;
  return asked != nullptr && asked();
}

void stop_if_asked() {
  if (asked_to_stop()) throw Interrupted();
}

bool ran_to_its_end(const std::function<void()>& work) {
  try {
    work();
  } catch (const Interrupted&) {
    return false;
  }
  return true;
}

void forget_stop() {
  question = nullptr;
}

}  // namespace kv::properties
