#include "kvcheck/properties/remote/facts_json.h"
#include "kvcheck/properties/remote/remote_family.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {

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
      const auto take = [&](const JsonAt& at) { failure = read(at, calls); };
      const auto reported =
          conversation_.ask(run_request(request, texts), options_.draws, take, work_of(calls));
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
  // Calls, tokens, and the rows that may be stored after each call, which its answer lists; times
  // units.
  [[nodiscard]] double work_of(const std::vector<Asked>& calls) const {
    std::size_t work = calls.size();
    for (const Asked& asked : calls) {
      const std::size_t fed = asked.fed.size();
      work += fed + history_.contract.most_stored(asked.branch.size() + fed, fed);
    }
    return static_cast<double>(work * history_.units());
  }

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
      Asked asked{call, tokens_of(call, branches), branches[call.branch]};
      carry_out(call, asked.fed, branches);
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
      carry_out(asked.call, asked.fed, branches_);
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
