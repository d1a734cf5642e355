#include "kvcheck/properties/recorded/judge_file.h"

#include <algorithm>
#include <utility>

#include "kvcheck/properties/battery/applies.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/laws/law_filter.h"
#include "kvcheck/properties/recorded/recorded_laws.h"
#include "kvcheck/properties/stop.h"

namespace kv::properties {
namespace {

constexpr std::size_t most_parts = 64;

// The two halves of a block, or nothing if its units may not be judged apart.
std::vector<Block> halves(const Block& block, const Contract& contract) {
  if (contract.unit == Unit::model) return {};
  Block first = block;
  Block second = block;
  if (block.layers > 1) {
    first.layers = block.layers / 2;
    second.layers = block.layers - first.layers;
    second.first_layer += first.layers;
  } else if (block.kv_heads > 1 && contract.unit != Unit::layer && !contract.shares_budget()) {
    first.kv_heads = block.kv_heads / 2;
    second.kv_heads = block.kv_heads - first.kv_heads;
    second.first_head += first.kv_heads;
  } else {
    return {};
  }
  return {first, second};
}

// The history of a finding, for people: the units of the whole run, and what the finding's call
// did. What other calls did is left out, since it may take all the memory there is.
History shown_history(const History& part, const RunHead& head, Finding& finding) {
  const Heads heads{head.setup, head.contract.unit};
  History shown{.what = {head.setup, part.what.stream, {}},
                .contract = head.contract,
                .failure = part.failure,
                .died = part.died};
  // What came after the finding does not belong to it.
  const std::size_t calls = std::min(finding.event + 1, part.events.size());
  for (std::size_t i = 0; i < calls; ++i) {
    const Event& event = part.events[i];
    shown.what.calls.push_back(event.call);
    Event& copy = shown.events.emplace_back();
    copy.call = event.call;
    copy.refused = event.refused;
    if (i != finding.event) continue;
    copy.facts.units.resize(heads.count());
    copy.fed = event.fed;
    copy.branch = event.branch;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      copy.facts.units[heads.index_of(part.place_of(unit))] = event.facts.units[unit];
    }
  }
  finding.unit = heads.index_of(part.place_of(finding.unit));
  return shown;
}

// What the runs said of a law that none of them broke so far.
struct Notes {
  bool of_right = false;    // some run said nothing of it by right
  std::size_t cut_at = 0;   // the last line before the memory ended; 0: it did not
  std::string why_not;      // some run cannot judge it
  std::string why_vacuous;  // some run says nothing of it
};

class Judge {
 public:
  Judge(HistoryFile& file,
        const std::string& name,
        const JudgeOptions& options,
        BatteryResult& report)
      : file_(file), name_(name), options_(options), report_(report), notes_(report.laws.size()) {}

  Result<void> run(const RunHead& head) {
    const Setup& setup = head.setup;
    return judge_block(head, {.layers = setup.layers, .kv_heads = setup.kv_heads});
  }

  // Gives each law its status, once all runs are judged.
  void settle() {
    for (std::size_t i = 0; i < report_.laws.size(); ++i) {
      if (report_.laws[i].status != Status::broken) settle(report_.laws[i], notes_[i]);
    }
  }

 private:
  Result<void> judge_block(const RunHead& head, const Block& block) {
    auto part = file_.read(head, block, options_.bytes);
    if (!part) return part.error();
    if (part->cut) {
      // Each part reads the run again, and a short file may say of many units that they store much.
      const auto parts =
          ++splits_ < most_parts ? halves(block, head.contract) : std::vector<Block>();
      for (const Block& half : parts) {
        if (auto done = judge_block(head, half); !done) return done;
      }
      if (!parts.empty()) return {};
    }
    if (part->cut && part->history.events.empty()) {
      starved_ = part->line;
      return {};
    }
    part->history.coverage = coverage_of(part->history);
    for (std::size_t i = 0; i < report_.laws.size(); ++i) {
      stop_if_asked();
      if (report_.laws[i].status != Status::broken) judge(report_.laws[i], notes_[i], head, *part);
    }
    return {};
  }

  void judge(LawResult& result, Notes& notes, const RunHead& head, const RecordedPart& part) const {
    auto why = why_not_applicable(*result.law, part.history.contract);
    if (!why) why = not_judgeable(*result.law, head, part);
    if (why) {
      if (notes.why_not.empty()) notes.why_not = *std::move(why);
      return;
    }
    ++result.cases;
    auto judgement = judged(*result.law, head, part);
    if (const auto* skipped = std::get_if<NotTested>(&judgement)) {
      ++result.vacuous;
      if (notes.why_vacuous.empty() || (skipped->of_right && !notes.of_right)) {
        notes.why_vacuous = skipped->why;
      }
      notes.of_right |= skipped->of_right;
      return;
    }
    result.coverage |= part.history.coverage;
    if (part.cut) notes.cut_at = part.line;
    if (auto* finding = std::get_if<Finding>(&judgement)) {
      broke(result, std::move(*finding), head, part);
    }
  }

  void broke(LawResult& result,
             Finding finding,
             const RunHead& head,
             const RecordedPart& part) const {
    const History& history = part.history;
    result.status = Status::broken;
    const std::size_t line =
        finding.event < part.lines.size() ? part.lines[finding.event] : part.line;
    result.recorded_at = name_ + ", line " + std::to_string(line);
    if (options_.explain) {
      for (Relaxation& relaxation : relaxations(history.contract)) {
        if (!all_hold(history, relaxation.contract)) continue;
        result.legal_if = std::move(relaxation.declaration);
        break;
      }
    }
    finding.history.reset();
    result.history = shown_history(history, head, finding);
    result.smallest = result.history->what;
    result.finding = std::move(finding);
  }

  void settle(LawResult& result, const Notes& notes) const {
    const bool silent = result.cases == result.vacuous;
    if (result.cases == 0 && !notes.why_not.empty()) {
      result.status = Status::not_applicable;
      result.why = notes.why_not;
    } else if (starved_ > 0) {
      result.status = Status::not_run;
      result.why = "line " + std::to_string(starved_) +
                   " alone needs more than the memory; give it more --memory";
    } else if (silent) {
      result.status = notes.of_right ? Status::not_applicable : Status::not_run;
      result.why = notes.of_right ? notes.why_vacuous : "no run speaks to it: " + notes.why_vacuous;
    } else {
      const std::string missing =
          never_seen(result.law->must_see, result.coverage, report_.contract);
      result.status = missing.empty() ? Status::held : Status::not_run;
      if (!missing.empty()) result.why = "no run showed " + missing;
      if (missing.empty() && notes.cut_at > 0) {
        result.why = "held up to line " + std::to_string(notes.cut_at) +
                     ", where the memory ended; give it more --memory";
      }
    }
  }

  HistoryFile& file_;
  const std::string& name_;
  const JudgeOptions& options_;
  BatteryResult& report_;
  std::vector<Notes> notes_;  // of each law
  std::size_t splits_ = 0;
  std::size_t starved_ = 0;  // a line that no part of a run had the memory for; 0: none
};

}  // namespace

Result<BatteryResult> judge_file(std::string_view text,
                                 const std::string& name,
                                 const JudgeOptions& options) {
  const auto laws = laws_named(options.filter);
  if (!laws) return laws.error();
  HistoryFile file(text, name, options.redeclared);
  BatteryResult report;
  report.strict = options.strict;
  report.recorded = true;
  for (const Law* law : *laws) {
    LawResult& result = report.laws.emplace_back();
    result.law = law;
    result.status = Status::not_applicable;
  }
  Judge judge(file, name, options, report);
  for (;;) {
    const auto head = file.next_run();
    if (!head) return head.error();
    if (!*head) break;
    if (report.cases++ == 0) {
      report.subject = (*head)->contract.name;
      report.contract = (*head)->contract;
      report.deviations = deviations((*head)->contract);
      report.requested = (*head)->setup;
    }
    if (auto done = judge.run(**head); !done) return done.error();
  }
  if (report.cases == 0) return malformed(name + " has no run; expected a head line, HISTORY.md");
  judge.settle();
  return report;
}

}  // namespace kv::properties
