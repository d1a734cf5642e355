#include "kvcheck/properties/case_run.h"

#include <exception>
#include <utility>

#include "kvcheck/properties/facts_shape.h"
#include "kvcheck/properties/stop.h"

namespace kv::properties {
namespace {

// Takes the answer apart: true if it was done.
template <typename T, typename Use>
bool taken(Answer<T> answer, Event& event, Use use) {
  if (auto* refused = std::get_if<Refused>(&answer)) {
    event.why = refused->why;
    return false;
  }
  use(std::get<T>(std::move(answer)));
  return true;
}

}  // namespace

CaseRun::CaseRun(Family& family,
                 const Contract& contract,
                 const Setup& setup,
                 const Stream& stream,
                 DrawsOf draws)
    : family_(family),
      draws_(std::move(draws)),
      history_{.what = {setup, stream, {}}, .contract = contract} {
  try {
    subjects_.push_back(family_.make(setup, draws_));
  } catch (const Interrupted&) {
    throw;  // no fault of the subject
  } catch (const std::exception& failure) {
    history_.failure = failure.what();
  }
}

void CaseRun::make(const Call& call) {
  if (!history_.failure.empty() || call.branch >= branches_.size()) return;
  history_.what.calls.push_back(call);
  try {
    perform(call);
  } catch (const Interrupted&) {
    throw;  // no fault of the subject
  } catch (const std::exception& failure) {
    history_.failure = failure.what();
  }
}

void CaseRun::perform(const Call& call) {
  Event event{.call = call};
  event.fed = tokens_of(call, branches_);
  event.refused = !answer(call, event);
  if (!event.refused) carry_out(call, event.fed, branches_);
  event.branch = branches_[call.branch];
  if (call.kind != Call::Kind::feed || event.refused) {
    event.facts = subjects_[call.branch]->look();
  }
  const bool fed = call.kind == Call::Kind::feed && !event.refused;
  if (const auto wrong = shape_error(event.facts, history_.units(), fed ? event.fed.size() : 0)) {
    throw SubjectFailed(*wrong);
  }
  event.branches = static_cast<std::uint32_t>(branches_.size());
  history_.events.push_back(std::move(event));
}

bool CaseRun::answer(const Call& call, Event& event) {
  Subject& subject = *subjects_[call.branch];
  const auto nothing = [](Done) {};
  switch (call.kind) {
    case Call::Kind::feed:
      return taken(subject.feed({event.fed, history_.what.stream}), event,
                   [&](Facts facts) { event.facts = std::move(facts); });
    case Call::Kind::fork:
      return taken(subject.fork(), event,
                   [&](std::unique_ptr<Subject> copy) { subjects_.push_back(std::move(copy)); });
    case Call::Kind::truncate:
      return taken(subject.truncate(call.amount), event, nothing);
    case Call::Kind::reset:
      return taken(subject.reset(), event, nothing);
    case Call::Kind::reorder:
      return taken(subject.reorder(call.from), event, nothing);
    case Call::Kind::shift:
      return taken(subject.shift(history_.what.setup.sinks, -call.amount), event, nothing);
    case Call::Kind::snapshot:
      return snapshot(subjects_[call.branch], event);
  }
  return false;
}

bool CaseRun::snapshot(std::unique_ptr<Subject>& subject, Event& event) {
  bool restored = false;
  const bool reported = taken(subject->snapshot(), event, [&](std::vector<std::uint8_t> bytes) {
    std::unique_ptr<Subject> fresh = family_.make(history_.what.setup, draws_);
    restored = taken(fresh->restore(bytes), event, [&](Done) { subject = std::move(fresh); });
  });
  return reported && restored;
}

}  // namespace kv::properties
