#include "kvcheck/properties/remote/validate.h"

#include <algorithm>
#include <array>

#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

// Cases that together hold every kind of call and of setup.
constexpr std::array<std::string_view, 6> cases = {
    "sinks=2,recent=4,budget=12;stream=random;calls=f1,f1,f1",
    "sinks=2,recent=4,budget=12;stream=random;calls=f20,f1,f0,f30",
    "sinks=1,recent=2,budget=5,layers=2,kv-heads=2,group=2;stream=hitter,planted=3;calls=f3,f9,f1",
    "sinks=1,recent=2,budget=5,sequences=2;stream=ties;calls=f4,o1.0,f4",
    "sinks=0,recent=4,budget=4;stream=recency;calls=f6,k,f2,b1:f2v1,b0:t3,b0:f2v2,r,f3",
    "sinks=1,recent=3,budget=6;stream=sink;calls=f9,s,f2,d1,f1,t-1,f1",
};

class Validator {
 public:
  Validator(std::string command, const RemoteOptions& options)
      : command_(std::move(command)), options_(options) {
    options_.strict = true;
  }

  Result<Validation> run() {
    if (const auto begun = restart(); !begun) return begun.error();
    const auto hello = say_hello(*conversation_);
    note("hello", hello_request(), hello ? "" : hello.error().message);
    if (!hello) return result_;
    for (const std::string_view text : cases) {
      const Case what = *parse_case(text);
      if (!conversation_->usable()) {
        if (const auto begun = restart(); !begun) return begun.error();
      }
      std::optional<Contract> contract = contract_of(what.setup, hello->name);
      if (contract) converse_about(what, *contract, *hello);
    }
    return result_;
  }

 private:
  Result<void> restart() {
    auto child = Child::run_command(command_);
    if (!child) return child.error();
    conversation_ = std::make_unique<Conversation>(*std::move(child), options_);
    return {};
  }

  void note(std::string asked, std::string request, std::string wrong) {
    result_.steps.push_back({std::move(asked), std::move(request), std::move(wrong)});
  }

  // Nothing if the sizes are refused or the answer is wrong.
  std::optional<Contract> contract_of(const Setup& setup, const std::string& name) {
    const auto declared = ask_contract(*conversation_, setup, name);
    const bool refused = declared && declared->refused;
    note(refused ? "a contract (refused)" : "a contract", contract_request(setup),
         declared ? "" : declared.error().message);
    if (!declared || refused) return std::nullopt;
    return declared->contract;
  }

  void converse_about(const Case& what, const Contract& contract, const Hello& hello) {
    History history{.what = what, .contract = contract};
    const auto done = converse(*conversation_, {.logits = hello.logits}, history);
    const auto refused = std::ranges::count(history.events, true, &Event::refused);
    note("a run of " + std::to_string(what.calls.size()) + " calls, of which " +
             std::to_string(refused) + " refused",
         what.text(), done ? "" : done.error().message);
  }

  std::string command_;
  RemoteOptions options_;
  std::unique_ptr<Conversation> conversation_;
  Validation result_;
};

}  // namespace

bool Validation::passed() const {
  return !steps.empty() &&
         std::ranges::all_of(steps, [](const Step& step) { return step.wrong.empty(); });
}

Result<Validation> validate_process(const std::string& command, const RemoteOptions& options) {
  return Validator(command, options).run();
}

}  // namespace kv::properties
