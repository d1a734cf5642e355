#include "kvcheck/properties/battery/battery_results.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/grown.h"
#include "kvcheck/properties/battery/verdict_bytes.h"
#include "kvcheck/properties/cases/child_time.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t most_candidates = 1500;
constexpr std::uint64_t most_deaths = 200;  // a process each
constexpr std::uint64_t pool_share = 60;    // cases that a declaration must make legal

// What a child that shrinks leaves behind, were it to die on its way.
struct ShrinkPage {
  std::uint64_t tried;
  bool ended;  // all simpler cases were tried
  char smallest[1U << 16U];
};

std::string repeat_words(const Law& law, const Case& what) {
  return std::string(law.id) + "/" + what.text();
}

}  // namespace

Tried try_apart(const Law& law, Family& family, const Case& what, double case_seconds) {
  struct Page {
    Status status;
    Coverage coverage;
    char why[1U << 12U];
  };

  const auto put = [&](Page& page) {
    const Attempt tried = attempt(law, family, what);
    const auto* skipped = std::get_if<NotTested>(&tried.judgement);
    page.status = skipped ? Status::not_run : tried.finding() ? Status::broken : Status::held;
    page.coverage = tried.coverage;
    if (skipped) skipped->why.copy(page.why, sizeof(page.why) - 1);
    return tried.death;
  };
  const SharedMemory memory(sizeof(Page));
  auto* const page = static_cast<Page*>(memory.data());
  std::string death;
  if (family.in_process()) {
    death = run_in_child(
        [&] {
          if (case_seconds > 0) stay_alive(case_seconds);
          put(*page);
        },
        {});
  } else {
    death = put(*page);
  }
  return {page->status, page->why, page->coverage, death};
}

std::string death_in(const Law& law, Family& family, const Case& what, double case_seconds) {
  return try_apart(law, family, what, case_seconds).death;
}

Shrunk Explainer::shrink_alive(const Law& law, const CaseTree& failing, double seconds) const {
  const ShrinkBound bound{most_candidates, seconds, options_.clock};
  const auto fails = [&](const Case& candidate) {
    return attempt(law, family_, candidate).finding() != nullptr;
  };
  if (!family_.in_process()) return shrink(failing, fails, bound);
  const SharedMemory memory(sizeof(ShrinkPage));
  auto* const page = static_cast<ShrinkPage*>(memory.data());
  const auto work = [&] {
    const auto noted = [&](const Case& candidate) {
      ++page->tried;
      if (options_.case_seconds > 0) stay_alive(options_.case_seconds);
      if (!fails(candidate)) return false;
      const std::string text = candidate.text();
      if (text.size() < sizeof(page->smallest))
        std::memcpy(page->smallest, text.c_str(), text.size() + 1);
      return true;
    };
    page->ended = !shrink(failing, noted, bound).cut;
  };
  // A candidate may kill the child: what was found before it stands.
  static_cast<void>(run_in_child(work, {}));
  const auto smallest = parse_case(page->smallest);
  return {smallest ? *smallest : failing.value(), page->tried, !page->ended};
}

namespace {

// What a child that explains leaves behind: how far it came, and results as bytes.
struct ExplainPage {
  std::uint64_t done;
  std::size_t size;
  char bytes[std::size_t{64} << 20U];

  // Without its history where there is no room for it.
  void add(const LawResult& result) {
    std::string text = bytes_of(result);
    if (text.size() > sizeof(bytes) / 4 || text.size() > sizeof(bytes) - size) {
      LawResult shorter = result;
      shorter.history.reset();
      text = bytes_of(shorter);
      KV_CHECK(text.size() <= sizeof(bytes) - size);
    }
    std::memcpy(bytes + size, text.data(), text.size());
    size += text.size();
    ++done;
  }
};

// In a child, which dies if a case takes too long, but may itself wait for children of its own.
template <typename Work>
auto in_time(const Family& family, const BatteryOptions& options, const Work& work) {
  const bool limited = family.in_process() && options.case_seconds > 0;
  if (limited) stay_alive(options.case_seconds);
  auto result = work();
  if (limited) stay_alive(0);
  return result;
}

void died_explained(const Explainer::Broken& broken, const std::string& death) {
  LawResult& result = *broken.result;
  result.smallest = broken.failing.value();
  result.reproduce = repeat_words(*result.law, *result.smallest);
  result.finding = Finding{.expected = "the same again when the same case is run again",
                           .seen =
                               "the law was broken, and when it was tried again the subject "
                               "died: " +
                               death};
}

}  // namespace

void Explainer::explain(std::span<const Broken> all,
                        const std::function<void(const LawResult&)>& begin) {
  if (!family_.in_process()) {
    for (const Broken& broken : all) {
      if (begin) begin(*broken.result);
      explain_here(broken);
    }
    return;
  }
  if (all.empty()) return;
  const SharedMemory memory(sizeof(ExplainPage));
  auto* const page = static_cast<ExplainPage*>(memory.data());
  const auto work = [&] {
    for (std::size_t i = page->done; i < all.size(); ++i) {
      explain_here(all[i]);
      page->add(*all[i].result);
    }
  };
  const auto wait = [&] {
    if (begin && page->done < all.size()) begin(*all[page->done].result);
  };
  // A dead child's bytes are kept up to the last result that it finished.
  for (std::size_t read = 0; read < all.size();) {
    const std::string death = run_in_child(work, wait);
    std::string_view bytes(page->bytes, page->size);
    for (; read < page->done; ++read) {
      LawResult& result = *all[read].result;
      read_result(bytes, result);
      if (!result.history) continue;
      const auto contract = family_.contract(result.history->what.setup);
      if (contract) result.history->contract = *contract;
    }
    page->size = 0;
    if (death.empty()) break;
    if (read < all.size()) died_explained(all[read], death);
    page->done = ++read;
  }
}

void Explainer::explain_here(const Broken& broken) {
  const auto& [result_of, failing, seconds] = broken;
  LawResult& result = *result_of;
  const Law& law = *result.law;
  Shrunk shrunk{failing.value(), 0};
  if (options_.shrink) shrunk = shrink_alive(law, failing, seconds);
  const auto again = [&] {
    return in_time(family_, options_, [&] { return attempt(law, family_, shrunk.smallest); });
  };
  Attempt last = again();
  if (last.finding() == nullptr) {
    // The subject does not repeat itself. What was seen first is all there is.
    shrunk.smallest = failing.value();
    last = again();
  }
  result.smallest = shrunk.smallest;
  result.shrinks = shrunk.tried;
  result.shrinks_cut = shrunk.cut;
  result.reproduce = repeat_words(law, shrunk.smallest);
  if (last.finding() == nullptr) {
    result.finding = Finding{.expected = "the same again when the same case is run again",
                             .seen = "the law was broken once, and held when it was tried again"};
    return;
  }
  result.finding = *last.finding();
  if (last.history) {
    if (options_.shrink || pool_ == nullptr) result.legal_if = legal_if(law, *last.history);
    result.history = std::move(last.history);
  } else {
    result.history = std::exchange(result.finding->history, {});
  }
}

namespace {

// The index of the call at which the subject dies, in a case that was deadly: the shortest
// beginning that is deadly ends with it. It is found by halving, because one of a case with
// thousands of calls may take seconds. All calls, if none is: it died by chance.
std::size_t deadly_call(const Law& law, Family& family, const Case& what, double case_seconds) {
  const auto deadly = [&](std::size_t calls) {
    Case begun = what;
    begun.calls.resize(calls);
    return !death_in(law, family, begun, case_seconds).empty();
  };
  std::size_t low = 0;
  std::size_t high = what.calls.size() + 1;  // no beginning
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (middle <= what.calls.size() && deadly(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high == 0 ? 0 : high - 1;
}

}  // namespace

void Explainer::explain_death(LawResult& result,
                              const CaseTree& failing,
                              std::string how,
                              double seconds) {
  const Law& law = *result.law;
  // A hang is waited for at every candidate.
  const bool hung = was_hang(how);
  const double case_seconds = hung ? std::min(1.0, options_.case_seconds) : options_.case_seconds;
  Shrunk shrunk{failing.value(), 0};
  const auto fails = [&](const Case& candidate) {
    std::string end = death_in(law, family_, candidate, case_seconds);
    if (end.empty()) return false;
    how = std::move(end);
    return true;
  };
  const bool again = fails(failing.value());
  if (options_.shrink && again) {
    const std::uint64_t most = hung ? most_deaths / 10 : most_deaths;
    shrunk = shrink(failing, fails, {most, seconds, options_.clock});
  }
  if (!again) how += "; it did not happen when the same case was run again";
  result.smallest = shrunk.smallest;
  result.shrinks = shrunk.tried;
  result.shrinks_cut = shrunk.cut;
  result.reproduce = repeat_words(law, shrunk.smallest);
  result.history = History{.what = shrunk.smallest, .failure = how, .died = true};
  result.finding =
      Finding{.expected = "an answer to every call, be it a refusal", .seen = std::move(how)};
  result.finding->event = again && is_judge(law)
                              ? deadly_call(law, family_, shrunk.smallest, case_seconds)
                              : shrunk.smallest.calls.size();
}

const std::vector<Explainer::Seen>& Explainer::seen() {
  if (!seen_.empty() || pool_ == nullptr) return seen_;
  for (std::uint64_t i = 0; i < pool_share; ++i) {
    const Case what = pool_->case_of(Board::pool, i).value();
    auto history = in_time(family_, options_, [&] { return run_case(family_, what); });
    if (!history) continue;
    Seen seen{*std::move(history), {}};
    for (Relaxation& relaxation : relaxations(seen.history.contract)) {
      seen.relaxed.emplace(std::move(relaxation.declaration), std::move(relaxation.contract));
    }
    seen_.push_back(std::move(seen));
  }
  return seen_;
}

std::string Explainer::legal_if(const Law& law, const History& history) {
  for (const Relaxation& relaxation : relaxations(history.contract)) {
    if (!all_hold(history, relaxation.contract)) continue;
    const bool everywhere = std::ranges::all_of(seen(), [&](const Seen& seen) {
      const auto relaxed = seen.relaxed.find(relaxation.declaration);
      return relaxed == seen.relaxed.end() || law.why_not(relaxed->second) ||
             !breaks(law, seen.history, relaxed->second);
    });
    if (!everywhere || !holds_when_grown(family_, history.what, relaxation.declaration)) continue;
    return relaxation.declaration;
  }
  return {};
}

}  // namespace kv::properties
