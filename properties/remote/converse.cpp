#include <algorithm>

#include "kvcheck/properties/remote/facts_json.h"
#include "kvcheck/properties/remote/remote_family.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

using Branches = std::vector<std::vector<Token>>;  // what was fed on each and still counts

// What the calls do to the branches once they are done.
void carry_out(const Asked& asked, Branches& branches) {
  std::vector<Token>& fed = branches[asked.call.branch];
  switch (asked.call.kind) {
    case Call::Kind::feed:
      fed.insert(fed.end(), asked.fed.begin(), asked.fed.end());
      break;
    case Call::Kind::fork: {
      std::vector<Token> copy = fed;
      branches.push_back(std::move(copy));
      break;
    }
    case Call::Kind::truncate: {
      const auto length = static_cast<std::size_t>(std::max<std::int64_t>(0, asked.call.amount));
      if (length < fed.size()) fed.resize(length);
      break;
    }
    case Call::Kind::reset:
      fed.clear();
      break;
    case Call::Kind::reorder:
    case Call::Kind::shift:
    case Call::Kind::snapshot:
      break;
  }
}

}  // namespace

std::optional<std::string> read_refusal(const JsonAt& event) {
  event.only({"refused", "units"});
  const auto why = event.find("refused");
  if (!why) return std::nullopt;
  return why->text("why it was refused");
}

Facts read_facts(const JsonAt& event, std::size_t queries, const History& history) {
  Facts facts;
  const JsonAt units = event.need("units");
  const std::size_t count = units.size("a list of units");
  if (count != history.units()) {
    units.complain("has " + std::to_string(count) + " units; the setup has " +
                   std::to_string(history.units()) + " (sequences x layers x heads)");
    return facts;
  }
  for (std::size_t i = 0; i < count; ++i) {
    facts.units.push_back(read_unit(units[i], queries));
  }
  return facts;
}

namespace {

class Talk {
 public:
  Talk(Conversation& conversation, const RunOptions& options, History& history)
      : conversation_(conversation), options_(options), history_(history) {}

  Result<void> run() {
    std::size_t next = 0;
    bool first = true;
    do {
      const std::vector<Asked> calls = plan(next);
      const RunRequest request{.setup = history_.what.setup,
                               .stream = history_.what.stream,
                               .first = first,
                               .own_seed = options_.draws == nullptr};
      std::string texts;
      for (const Asked& asked : calls) {
        texts += (texts.empty() ? "" : ",") + call_json(request, asked, options_.logits);
      }
      const std::size_t before = history_.events.size();
      std::string failure;
      const auto reported = conversation_.ask(run_request(request, texts), options_.draws,
                                              [&](const JsonAt& at) { failure = read(at, calls); });
      if (!reported) return reported.error();
      if (!failure.empty()) return malformed(failure);
      const std::size_t done = history_.events.size() - before;
      if (done == 0 && !calls.empty()) return malformed("the answer tells of no call");
      next = done == calls.size() ? planned_to_ : index_of_[done - 1] + 1;
      first = false;
    } while (next < history_.what.calls.size());
    return {};
  }

 private:
  // The calls from `next` on, as they are if none is refused.
  std::vector<Asked> plan(std::size_t next) {
    Branches branches = branches_;
    std::vector<Asked> calls;
    index_of_.clear();
    planned_to_ = next;
    while (planned_to_ < history_.what.calls.size()) {
      const std::size_t index = planned_to_++;
      const Call& call = history_.what.calls[index];
      if (call.branch >= branches.size()) continue;
      Asked asked{.call = call, .branch = branches[call.branch]};
      const std::int64_t count = call.kind == Call::Kind::feed ? call.amount : 0;
      for (std::int64_t i = 0; i < count; ++i) {
        asked.fed.push_back(
            {static_cast<std::int32_t>(asked.branch.size() + asked.fed.size()), call.variant});
      }
      carry_out(asked, branches);
      calls.push_back(std::move(asked));
      index_of_.push_back(index);
    }
    return calls;
  }

  // Takes the events of an answer; what the subject failed of.
  std::string read(const JsonAt& at, const std::vector<Asked>& calls) {
    at.only({"events", "failure"});
    const JsonAt events = at.need("events");
    const std::size_t count = events.size("a list of events");
    if (count > calls.size()) {
      events.complain("has " + std::to_string(count) + " events for " +
                      std::to_string(calls.size()) + " calls");
      return {};
    }
    bool refused = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (refused) {
        events[i].complain("a call after a refused one must wait for the next request");
        break;
      }
      history_.events.push_back(read_event(events[i], calls[i]));
      refused = history_.events.back().refused;
    }
    if (const auto failure = at.find("failure")) {
      const std::string words = failure->text("what went wrong");
      return words.empty() ? "the subject failed" : words;
    }
    if (count < calls.size() && !refused) {
      events.complain("tells of " + std::to_string(count) + " calls of " +
                      std::to_string(calls.size()) + ", and none was refused");
    }
    return {};
  }

  Event read_event(const JsonAt& at, const Asked& asked) {
    Event event{.call = asked.call};
    event.fed = asked.fed;
    if (const auto why = read_refusal(at)) {
      event.refused = true;
      event.why = *why;
    } else {
      carry_out(asked, branches_);
    }
    event.branch = branches_[asked.call.branch];
    event.branches = static_cast<std::uint32_t>(branches_.size());
    const bool fed = asked.call.kind == Call::Kind::feed && !event.refused;
    event.facts = read_facts(at, fed ? asked.fed.size() : 0, history_);
    return event;
  }

  Conversation& conversation_;
  const RunOptions& options_;
  History& history_;
  Branches branches_{{}};
  std::vector<std::size_t> index_of_;  // of each planned call in the case
  std::size_t planned_to_ = 0;
};

}  // namespace

Result<void> converse(Conversation& conversation, const RunOptions& options, History& history) {
  return Talk(conversation, options, history).run();
}

}  // namespace kv::properties
