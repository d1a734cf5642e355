#include "kvcheck/properties/remote/remote_family.h"

#include <map>
#include <mutex>

#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/remote_subject.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

// Setups that differ in their seed only have one contract.
std::string key_of(Setup setup) {
  setup.seed = 0;
  return setup_json(setup);
}

bool was_late(std::string_view failure) {
  return failure.find("gave no answer") != std::string_view::npos;
}

class RemoteFamily final : public Family {
 public:
  RemoteFamily(StartChild start, const RemoteOptions& options)
      : pool_(std::make_shared<ConversationPool>(std::move(start), options)) {}

  Result<void> begin() {
    auto conversation = pool_->take();
    if (!conversation) return conversation.error();
    const auto hello = say_hello(**conversation);
    if (!hello) return hello.error();
    hello_ = *hello;
    pool_->give(*std::move(conversation));
    pool_->greet_newcomers();
    // A declaration that cannot be read is reported at once; a death over it is a finding.
    static_cast<void>(contract(hello_.requested));
    const auto failed = failures_.find(key_of(hello_.requested));
    if (failed == failures_.end() || failed->second.kind != Error::Kind::malformed) return {};
    return failed->second;
  }

  [[nodiscard]] std::string name() const override { return hello_.name; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    const std::scoped_lock lock(mutex_);
    const auto [entry, fresh] = contracts_.try_emplace(key_of(setup), Error{});
    if (fresh) entry->second = ask_contract(setup);
    return entry->second;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    const auto declared = contract(setup);
    return make_remote_subject({.pool = pool_,
                                .setup = setup,
                                .contract = *declared,
                                .draws = hello_.draws ? draws : nullptr,
                                .logits = hello_.logits});
  }

  bool run_whole(const Case& what, const DrawsOf* draws, History& history) override {
    const RunOptions options{.draws = hello_.draws ? draws : nullptr, .logits = hello_.logits};
    {
      const std::scoped_lock lock(mutex_);
      const auto failed = failures_.find(key_of(what.setup));
      if (failed != failures_.end()) {
        history.failure = failed->second.message;
        history.died = failed->second.kind == Error::Kind::io;
        return true;
      }
    }
    try_run(options, history);
    return true;
  }

  [[nodiscard]] bool uses_draws() const override { return hello_.draws; }

  [[nodiscard]] Setup requested() const override { return hello_.requested; }

  [[nodiscard]] bool takes_sizes() const override { return hello_.sizes; }

  [[nodiscard]] bool in_process() const override { return false; }

 private:
  // Names no event where the process died or fell out of step: a whole case is one request,
  // and where in it that was cannot be seen.
  void try_run(const RunOptions& options, History& history) {
    auto conversation = pool_->take();
    if (!conversation) {
      history.failure = conversation.error().message;
      history.died = true;
      return;
    }
    const auto done = converse(**conversation, options, history);
    if (!done) history.failure = done.error().message;
    history.died = !(*conversation)->usable();
    if (const std::string said = (*conversation)->unasked(); done && !said.empty()) {
      history.failure = "the subject's process wrote more than its answer: " + said;
      history.died = true;
    }
    pool_->give(*std::move(conversation));
    if (!history.died) return;
    history.events.clear();
    if (was_late(history.failure)) pool_->lose_patience();
  }

  // What the process declares, or why it refuses. One that fails over it is not refused: a
  // contract of the strictest reading stands in, and every run fails with what happened.
  Result<Contract> ask_contract(const Setup& setup) const {
    auto conversation = pool_->take();
    Result<Declared> declared = conversation
                                    ? properties::ask_contract(**conversation, setup, hello_.name)
                                    : Result<Declared>(conversation.error());
    if (conversation) pool_->give(*std::move(conversation));
    if (!declared) {
      failures_[key_of(setup)] = declared.error();
      return strictest(hello_.name, setup);
    }
    if (!declared->refused) return declared->contract;
    return Error{Error::Kind::unsupported,
                 hello_.name + " refuses these sizes: " + *declared->refused};
  }

  std::shared_ptr<ConversationPool> pool_;
  Hello hello_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Result<Contract>> contracts_;
  mutable std::map<std::string, Error> failures_;  // by key, of asking for the contract
};

}  // namespace

Result<std::unique_ptr<Family>> make_remote_family(StartChild start, const RemoteOptions& options) {
  auto family = std::make_unique<RemoteFamily>(std::move(start), options);
  if (const auto begun = family->begin(); !begun) return begun.error();
  return std::unique_ptr<Family>(std::move(family));
}

}  // namespace kv::properties
