#include <boost/json/parse.hpp>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/remote_family.h"

namespace kv::fuzz {
namespace {

using namespace properties;

// A subject that reports what the input says, whatever it is fed.
class Reporting final : public Family {
 public:
  Reporting(Contract contract, const JsonAt& events)
      : contract_(std::move(contract)), events_(events) {}

  [[nodiscard]] std::string name() const override { return "the input"; }

  [[nodiscard]] Result<Contract> contract(const Setup& /*setup*/) const override {
    return contract_;
  }

  std::unique_ptr<Subject> make(const Setup& /*setup*/, const DrawsOf& /*draws*/) override {
    KV_CHECK(false);
    return nullptr;
  }

  [[nodiscard]] Setup requested() const override { return {}; }

  bool run_whole(const Case& what, const DrawsOf* /*draws*/, History& history) override {
    Branches branches{{}};
    const std::size_t count = events_.size("a list of events");
    for (const Call& call : what.calls) {
      if (call.branch >= branches.size() || history.events.size() == count) continue;
      Event event{.call = call};
      event.fed = tokens_of(call, branches);
      const JsonAt at = events_[history.events.size()];
      if (const auto why = read_refusal(at)) {
        event.refused = true;
        event.why = *why;
      } else {
        carry_out(call, event.fed, branches);
      }
      event.branch = branches[call.branch];
      event.branches = static_cast<std::uint32_t>(branches.size());
      const bool fed = call.kind == Call::Kind::feed && !event.refused;
      event.facts = read_facts(at, fed ? event.fed.size() : 0, history);
      history.events.push_back(std::move(event));
    }
    return true;
  }

 private:
  Contract contract_;
  JsonAt events_;
};

void judge(Reporting& family, const Case& what, const Contract& contract) {
  for (const Law& law : laws()) {
    if (!is_judge(law) || law.why_not(contract)) continue;
    const Attempt tried = attempt(law, family, what);
    const Finding* finding = tried.finding();
    if (finding == nullptr) continue;
    KV_CHECK(tried.history.has_value());
    KV_CHECK(!finding->expected.empty() && !finding->seen.empty());
    if (!tried.history->events.empty()) static_cast<void>(picture(*tried.history, *finding));
  }
}

bool is_small(const Case& what) {
  const Setup& setup = what.setup;
  return what.tokens() <= 64 && what.calls.size() <= 16 && setup.sequences * setup.layers <= 8 &&
         setup.kv_heads * setup.group <= 8;
}

}  // namespace

// All laws that judge a history, on what a foreign cache may report: a case, a contract and the
// events of an answer.
bool history(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 3);
  const Result<Case> what = parse_case(parts[0]);
  if (!what) return refused(what.error());
  boost::system::error_code failed;
  const boost::json::value declared = boost::json::parse(parts[1], failed);
  if (failed) return false;
  const boost::json::value reported = boost::json::parse(parts[2], failed);
  if (failed || !is_small(*what)) return false;
  Complaints complaints;
  const Contract contract =
      read_contract(JsonAt(declared, "contract", complaints), what->setup, "the input");
  Reporting family(contract, JsonAt(reported, "events", complaints));
  const auto run = run_case(family, *what);
  // The program judges no answer that breaks the protocol.
  if (!complaints.lines.empty() || !run || !run->failure.empty()) return false;
  judge(family, *what, contract);
  return true;
}

}  // namespace kv::fuzz
