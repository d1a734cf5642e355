#include "properties/battery.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/words.h"
#include "properties/attempt.h"
#include "properties/battery_results.h"
#include "properties/campaign.h"

namespace kv {
namespace {

bool named(std::string_view id, std::string_view pattern) {
  if (!pattern.ends_with('*')) return id == pattern;
  return id.starts_with(pattern.substr(0, pattern.size() - 1));
}

// The laws that the filter names, in the order of laws().
Result<std::vector<const Law*>> filtered(const std::vector<std::string>& filter) {
  std::vector<const Law*> chosen;
  std::vector<std::string_view> ids;
  for (const Law& law : laws()) ids.push_back(law.id);
  for (const std::string& pattern : filter) {
    if (std::ranges::none_of(ids, [&](std::string_view id) { return named(id, pattern); })) {
      return usage_error(unknown_word("law", pattern, ids));
    }
  }
  for (const Law& law : laws()) {
    const auto names = [&](const std::string& pattern) { return named(law.id, pattern); };
    if (filter.empty() || std::ranges::any_of(filter, names)) chosen.push_back(&law);
  }
  return chosen;
}

// Why the law does not apply, by itself or because what it must see cannot happen.
std::string why_spared(const Law& law, const Contract& contract) {
  if (law.spares != nullptr) {
    if (auto why = law.spares(contract)) return *why;
  }
  const bool statistical = std::holds_alternative<Measure>(law.check);
  const bool must_evict = law.must_see.eviction || law.must_see.wrap;
  if (!statistical && must_evict && contract.budget == 0) return "nothing is ever evicted";
  const std::uint32_t window = contract.recent > 0 ? contract.recent : contract.budget;
  if (law.must_see.wide_chunk && contract.longest_chunk > 0 && contract.longest_chunk <= window) {
    return "chunks wider than the window are refused";
  }
  return {};
}

// What the law must see and never saw.
std::string never_seen(const MustSee& must, const Coverage& seen) {
  std::string missing;
  const auto miss = [&](bool is_missing, std::string_view what) {
    if (is_missing) missing += (missing.empty() ? "" : ", nor ") + std::string(what);
  };
  miss(must.eviction && !seen.eviction, "an eviction");
  miss(must.wide_chunk && !seen.wide_chunk, "a chunk wider than the window");
  miss(must.wrap && !seen.wrap, "a full budget of tokens after the budget was full");
  return missing.empty() ? missing : "no case showed " + missing;
}

// The status of a law that was not broken.
void settle(LawResult& result, const Tally& tally, const Board& board, std::uint64_t least) {
  result.status = Status::not_run;
  if (board.late && tally.cases < least) {
    result.why = "time ran out after " + std::to_string(tally.cases) + " cases";
  } else if (tally.of_right && tally.cases == tally.vacuous) {
    result.status = Status::spared;
    result.why = tally.why_vacuous;
  } else if (tally.cases == tally.vacuous) {
    result.why = tally.vacuous == 0 ? "no case was tried"
                                    : "no case speaks to it: " + std::string(tally.why_vacuous);
  } else {
    result.why = never_seen(result.law->must_see, tally.coverage);
    if (result.why.empty()) result.status = Status::held;
  }
}

class Battery {
 public:
  Battery(Family& family, const BatteryOptions& options, std::vector<const Law*> laws)
      : family_(family), options_(options), campaign_(family, options, std::move(laws)) {}

  // Tries the campaign's laws; `of` gives the result of each by its index.
  void run(const std::vector<LawResult*>& of) {
    const SharedMemory memory(sizeof(Board));
    auto* const board = std::construct_at(static_cast<Board*>(memory.data()));
    if (family_.in_process()) board->case_seconds = options_.case_seconds;
    const std::string death = run_board(*board);
    cases_ = board->cases;
    Explainer explainer(family_, options_, death.empty() ? &campaign_ : nullptr);
    const double seconds = shrink_seconds(*board, of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      LawResult& result = *of[i];
      const Tally& tally = board->tallies[i];
      result.cases = tally.cases;
      result.vacuous = tally.vacuous;
      result.coverage = tally.coverage;
      if (tally.broken) {
        const std::uint64_t source = is_judge(*result.law) ? Board::pool : i;
        result.status = Status::broken;
        tell(0.5, result.law->id);
        explainer.explain(result, campaign_.case_of(source, tally.broken_at), seconds);
      } else if (!death.empty()) {
        result.why = "the subject died before it was tried to the end";
      } else {
        settle(result, tally, *board,
               is_judge(*result.law) ? case_counts(Level::quick, options_.cases).pool
                                     : case_counts(Level::quick, options_.cases).relation);
      }
    }
    if (!death.empty()) blame(*board, death, of, explainer, seconds);
  }

  [[nodiscard]] std::uint64_t cases() const { return cases_; }

  // The result of a law that was not asked for, but broken by the subject's death.
  [[nodiscard]] std::optional<LawResult>& unasked() { return unasked_; }

 private:
  void tell(double share, std::string_view what) const {
    if (options_.progress) options_.progress(share, what);
  }

  std::string run_board(Board& board) {
    if (!family_.in_process()) {
      campaign_.run(board);
      return {};
    }
    const auto wait = [&] {
      const double share = static_cast<double>(board.cases) /
                           static_cast<double>(std::max<std::uint64_t>(1, board.out_of));
      tell(share / 2, board.law == Board::pool ? "all laws that judge a run"
                                               : campaign_.laws()[board.law]->id);
    };
    return run_in_child([&] { campaign_.run(board); }, wait);
  }

  // A fair share of what shrinking may take together.
  [[nodiscard]] static double shrink_seconds(const Board& board, std::size_t laws) {
    std::size_t broken = 0;
    for (std::size_t i = 0; i < laws; ++i) broken += board.tallies[i].broken ? 1 : 0;
    constexpr double together = 8;
    constexpr double most = 3;
    return std::min(most, together / static_cast<double>(std::max<std::size_t>(1, broken)));
  }

  // The subject died: of the case itself, which breaks "survives", or only in runs that a relation
  // made of it.
  void blame(const Board& board,
             const std::string& death,
             const std::vector<LawResult*>& of,
             Explainer& explainer,
             double seconds) {
    const CaseTree failing = campaign_.case_of(board.law, board.index);
    const Law* const survives = find_law("survives");
    const bool relation =
        board.law != Board::pool &&
        death_in(*survives, family_, failing.value(), options_.case_seconds).empty();
    const Law* const law = relation ? campaign_.laws()[board.law] : survives;
    LawResult* blamed = nullptr;
    for (LawResult* result : of) blamed = result->law == law ? result : blamed;
    if (blamed == nullptr) blamed = &unasked_.emplace();
    blamed->law = law;
    blamed->status = Status::broken;
    blamed->why.clear();
    blamed->cases = std::max<std::uint64_t>(blamed->cases, 1);
    explainer.explain_death(*blamed, failing, death, seconds);
  }

  Family& family_;
  const BatteryOptions& options_;
  Campaign campaign_;
  std::uint64_t cases_ = 0;
  std::optional<LawResult> unasked_;
};

void measure(LawResult& result, Family& family, const Effort& effort) {
  result.measured = std::get<Measure>(result.law->check)(family, effort);
  result.cases = 1;
  result.why = result.measured->why_not;
  if (!result.measured->ran) {
    if (result.measured->cannot) result.status = Status::spared;
    return;
  }
  result.status = result.measured->broken ? Status::broken : Status::held;
  constexpr std::array<std::string_view, 3> words = {"quick", "full", "nightly"};
  result.reproduce = std::string(result.law->id) +
                     "/level=" + std::string(words[static_cast<std::size_t>(effort.level)]) +
                     ",seed=" + std::to_string(effort.seed);
}

void measure_all(Report& report, Family& family, const BatteryOptions& options, double begun) {
  const bool died = std::ranges::any_of(report.laws, [](const LawResult& result) {
    return result.status == Status::broken && result.law->id == "survives";
  });
  const double limit = options.seconds;
  for (LawResult& result : report.laws) {
    if (!std::holds_alternative<Measure>(result.law->check) || result.status == Status::spared) {
      continue;
    }
    if (options.progress) options.progress(0.5, result.law->id);
    if (died) {
      result.why = "the subject does not survive";
    } else if (options.clock && limit > 0 && options.clock() - begun > limit) {
      result.why = "time ran out";
    } else {
      measure(result, family, options.effort);
    }
  }
}

}  // namespace

bool Report::holds() const {
  return count(Status::broken) == 0 && count(Status::held) > 0;
}

std::size_t Report::count(Status status) const {
  return static_cast<std::size_t>(std::ranges::count(laws, status, &LawResult::status));
}

Result<Report> run_battery(Family& family, const BatteryOptions& options) {
  const double begun = options.clock ? options.clock() : 0;
  const auto chosen = filtered(options.filter);
  if (!chosen) return chosen.error();
  const Setup wanted = family.wanted();
  const auto contract = family.contract(wanted);
  if (!contract) return contract.error();
  if (const std::string wrong = wrong_claim(contract->claims); !wrong.empty()) {
    return usage_error("the contract of " + family.name() + " has an " + wrong);
  }
  Report report{.subject = family.name(),
                .contract = *contract,
                .deviations = deviations(*contract),
                .wanted = wanted,
                .effort = options.effort,
                .cases = 0,
                .laws = {}};
  std::vector<const Law*> tried;
  std::vector<std::size_t> at;
  for (const Law* law : *chosen) {
    LawResult& result = report.laws.emplace_back();
    result.law = law;
    result.why = why_spared(*law, *contract);
    if (!result.why.empty()) {
      result.status = Status::spared;
    } else if (!std::holds_alternative<Measure>(law->check)) {
      tried.push_back(law);
      at.push_back(report.laws.size() - 1);
    }
  }
  std::vector<LawResult*> of;
  for (const std::size_t index : at) of.push_back(&report.laws[index]);
  if (!tried.empty()) {
    Battery battery(family, options, std::move(tried));
    battery.run(of);
    report.cases = battery.cases();
    if (battery.unasked()) {
      report.laws.insert(report.laws.begin(), *std::move(battery.unasked()));
    }
  }
  measure_all(report, family, options, begun);
  return report;
}

}  // namespace kv
