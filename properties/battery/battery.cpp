#include "kvcheck/properties/battery/battery.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "kvcheck/properties/battery/applies.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/battery_measures.h"
#include "kvcheck/properties/battery/battery_results.h"
#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/battery/contradiction.h"
#include "kvcheck/properties/battery/followers.h"
#include "kvcheck/properties/laws/law_filter.h"

namespace kv::properties {
namespace {

// The status of a law that was not broken. `planned` are the cases of the quick level: with fewer
// than a quarter of them, nothing is said of the law.
void settle(LawResult& result,
            const Board& board,
            const Contract& contract,
            std::uint64_t index,
            std::uint64_t planned) {
  const Tally& tally = board.tallies[index];
  const bool judges = is_judge(*result.law);
  const bool given_up = board.given_up(judges ? Board::pool : index);
  const bool cut = board.late || board.interrupted;
  const std::string cause = board.interrupted ? "it was interrupted" : "time ran out";
  result.status = Status::not_run;
  const auto few_of = [&] {
    return std::to_string(tally.cases) + " of " + std::to_string(planned) + " cases";
  };
  if (given_up && tally.cases < planned) {
    result.why = "given up as the subject died again and again; " + std::to_string(tally.cases) +
                 " cases were tried";
  } else if (cut && 4 * tally.cases < planned) {
    result.why = cause + " after " + few_of();
  } else if (tally.cases == 0 && (judges ? board.pool_deaths : tally.deaths) > 0) {
    result.why = "the subject died in every case";
  } else if (tally.of_right && tally.cases == tally.vacuous) {
    result.status = Status::not_applicable;
    result.why = tally.why_vacuous;
  } else if (tally.cases == tally.vacuous) {
    result.why = tally.vacuous == 0 ? "no case was tried"
                                    : "no case speaks to it: " + std::string(tally.why_vacuous);
  } else {
    const std::string missing = never_seen(result.law->must_see, tally.coverage, contract);
    result.why = missing.empty() ? "" : "no case showed " + missing;
    if (!missing.empty()) return;
    result.status = Status::held;
    if (cut && tally.cases < planned) result.why = "held on " + few_of() + ", as " + cause;
  }
}

class Battery {
 public:
  Battery(Family& family,
          const Contract& contract,
          const BatteryOptions& options,
          std::vector<const Law*> laws)
      : family_(family),
        contract_(contract),
        options_(options),
        campaign_(family, options, std::move(laws)) {}

  // Tries the campaign's laws; `of` gives the result of each by its index.
  void run(const std::vector<LawResult*>& of) {
    const SharedMemory memory(sizeof(Board));
    auto* const board = std::construct_at(static_cast<Board*>(memory.data()));
    if (family_.in_process()) board->case_seconds = options_.case_seconds;
    interrupted_ = board->interrupted = was_stopped(options_, [&] { run_board(*board); });
    cases_ = board->cases;
    Explainer explainer(family_, options_, board->deaths == 0 ? &campaign_ : nullptr);
    const double seconds = shrink_seconds(*board, of.size());
    std::vector<Explainer::Broken> broken;
    for (std::size_t i = 0; i < of.size(); ++i) {
      LawResult& result = *of[i];
      const Tally& tally = board->tallies[i];
      result.cases = tally.cases;
      result.vacuous = tally.vacuous;
      result.coverage = tally.coverage;
      if (options_.clock && is_relation(*result.law)) result.seconds = tally.seconds;
      const auto died = died_in_.find(i);
      if (tally.broken) {
        const std::uint64_t source = is_judge(*result.law) ? Board::pool : i;
        result.status = Status::broken;
        broken.push_back({&result, campaign_.case_of(source, tally.broken_at), seconds});
      } else if (died != died_in_.end()) {
        break_of_death(result, died->second.first, died->second.second, explainer, seconds);
      } else {
        const CaseCounts least = case_counts(Level::quick, options_.cases);
        settle(result, *board, contract_, i, is_judge(*result.law) ? least.pool : least.relation);
      }
    }
    explain(explainer, broken);
    if (board->killer[0] != 0) blame(*board, of, explainer, seconds);
  }

  [[nodiscard]] std::uint64_t cases() const { return cases_; }

  [[nodiscard]] bool interrupted() const { return interrupted_; }

  // The result of a law that was not asked for, but broken by the subject's death.
  [[nodiscard]] std::optional<LawResult>& unasked() { return unasked_; }

 private:
  void report_to(double share, std::string_view what) const {
    if (options_.progress) options_.progress(share, what);
  }

  // A subject in this process takes a child with it when it dies; the next child continues after
  // that case.
  void run_board(Board& board) {
    if (!family_.in_process()) return campaign_.run(board);
    const auto wait = [&] {
      const double share = static_cast<double>(board.cases) /
                           static_cast<double>(std::max<std::uint64_t>(1, board.out_of));
      report_to(share / 2, board.law == Board::pool ? "all laws that judge a run"
                                                    : campaign_.laws()[board.law]->id);
    };
    for (;;) {
      const std::string death = run_in_child([&] { campaign_.run(board); }, wait);
      if (death.empty()) return;
      note_death(board, death);
    }
  }

  // A child died: of the case itself, which breaks "survives", or only in runs that a relation made
  // of it, which breaks the relation.
  void note_death(Board& board, const std::string& death) {
    constexpr double short_wait = 2;  // of one that is known to hang
    if (was_hang(death)) board.case_seconds = std::min(board.case_seconds, short_wait);
    const CaseTree failing = campaign_.case_of(board.law, board.index);
    const bool known = board.killer[0] != 0;
    const bool of_itself =
        board.law == Board::pool || known ||
        !death_in(*find_law("survives"), family_, failing.value(), board.case_seconds).empty();
    board.note_death(board.law, of_itself ? failing.value().text() : "", death);
    if (!of_itself) died_in_.try_emplace(board.law, failing, death);
  }

  void explain(Explainer& explainer, std::vector<Explainer::Broken>& broken) {
    const auto begin = [&](const LawResult& result) { report_to(0.5, result.law->id); };
    if (!was_stopped(options_, [&] { explainer.explain(broken, begin); })) return;
    interrupted_ = true;
    for (Explainer::Broken& each : broken) each.seconds = 0.05;
    explainer.explain(broken, begin);
  }

  // A fair share of what shrinking may take together.
  [[nodiscard]] double shrink_seconds(const Board& board, std::size_t laws) const {
    std::size_t broken = 0;
    for (std::size_t i = 0; i < laws; ++i) broken += board.tallies[i].broken ? 1 : 0;
    const double together = board.interrupted ? 1.0 : std::min(8.0, 0.3 * options_.seconds);
    constexpr double most = 3;
    return std::min(most, together / static_cast<double>(std::max<std::size_t>(1, broken)));
  }

  static void break_of_death(LawResult& result,
                             const CaseTree& failing,
                             const std::string& death,
                             Explainer& explainer,
                             double seconds) {
    result.status = Status::broken;
    result.why.clear();
    result.cases = std::max<std::uint64_t>(result.cases, 1);
    explainer.explain_death(result, failing, death, seconds);
  }

  // Breaks "survives" by the first deadly run, whether it was asked for or not.
  void blame(const Board& board,
             const std::vector<LawResult*>& of,
             Explainer& explainer,
             double seconds) {
    const Law* const law = find_law("survives");
    LawResult* blamed = nullptr;
    for (LawResult* result : of) blamed = result->law == law ? result : blamed;
    if (blamed == nullptr) blamed = &unasked_.emplace();
    if (blamed->status == Status::broken) return;
    blamed->law = law;
    const CaseTree failing(*parse_case(board.killer), family_.takes_sizes());
    // This matters more than what else may be broken.
    const double least = std::min(5.0, 0.2 * options_.seconds);
    break_of_death(*blamed, failing, board.how, explainer, std::max(seconds, least));
  }

  Family& family_;
  const Contract& contract_;  // of the requested setup
  const BatteryOptions& options_;
  Campaign campaign_;
  std::uint64_t cases_ = 0;
  bool interrupted_ = false;
  std::optional<LawResult> unasked_;

  // By relation: the case in which it was deadly, and how.
  std::map<std::uint64_t, std::pair<CaseTree, std::string>> died_in_;
};

}  // namespace

bool BatteryResult::holds() const {
  return count(Status::broken) == 0 && count(Status::held) > 0;
}

std::size_t BatteryResult::count(Status status) const {
  return static_cast<std::size_t>(std::ranges::count(laws, status, &LawResult::status));
}

Result<BatteryResult> run_battery(Family& family, const BatteryOptions& options) {
  const double begun = options.clock ? options.clock() : 0;
  const auto selected = laws_named(options.filter);
  if (!selected) return selected.error();
  const Setup requested = family.requested();
  const auto contract = family.contract(requested);
  if (!contract) return contract.error();
  if (const std::string wrong = wrong_claims(contract->claims); !wrong.empty()) {
    return usage_error("the contract of " + family.name() + " has an " + wrong);
  }
  if (const std::string wrong = contradiction_in(*contract); !wrong.empty()) {
    return usage_error("the contract of " + family.name() + " " + wrong);
  }
  BatteryResult report{.subject = family.name(),
                       .contract = *contract,
                       .deviations = deviations(*contract),
                       .requested = requested,
                       .effort = options.effort,
                       .strict = options.strict};
  std::vector<const Law*> tried;
  std::vector<std::size_t> at;
  for (const Law* law : *selected) {
    LawResult& result = report.laws.emplace_back();
    result.law = law;
    result.why = why_not_applicable(*law, *contract).value_or("");
    if (!result.why.empty()) {
      result.status = Status::not_applicable;
    } else if (!std::holds_alternative<Measure>(law->check)) {
      tried.push_back(law);
      at.push_back(report.laws.size() - 1);
    }
  }
  std::vector<LawResult*> of;
  of.reserve(at.size());
  for (const std::size_t index : at) of.push_back(&report.laws[index]);
  if (!tried.empty()) {
    // Half of the time for cases where chance is to be measured too; some for shrinking.
    BatteryOptions cases = options;
    cases.seconds = (measured_laws(report).empty() ? 0.8 : 0.5) * seconds_of(options);
    Battery battery(family, *contract, cases, std::move(tried));
    battery.run(of);
    report.cases = battery.cases();
    report.interrupted = battery.interrupted();
    if (battery.unasked()) {
      report.laws.insert(report.laws.begin(), *std::move(battery.unasked()));
    }
  }
  if (options.shrink && !report.interrupted) {
    report.interrupted =
        was_stopped(options, [&] { find_followers(report, family, options.case_seconds); });
  }
  measure_all(report, family, options, begun + 0.95 * seconds_of(options));
  return report;
}

}  // namespace kv::properties
