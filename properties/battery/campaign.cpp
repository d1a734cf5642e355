#include "kvcheck/properties/battery/campaign.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/properties/stop.h"

namespace kv::properties {
namespace {

// What the pool's cases hold, in turn: plain feeds; several layers, heads and sequences; and two
// kinds of operations, with several of everything.
Wants pool_wants(std::uint64_t index) {
  Wants wants;
  if (index % 3 == 0) return wants;
  wants.several_layers = wants.several_heads = wants.several_sequences = true;
  if (index % 3 == 1) return wants;
  constexpr std::array<bool Wants::*, 6> kinds = {&Wants::forks,     &Wants::truncates,
                                                  &Wants::resets,    &Wants::reorders,
                                                  &Wants::snapshots, &Wants::shifts};
  const std::uint64_t round = index / 3;
  wants.*kinds[round % kinds.size()] = true;
  wants.*kinds[(round + round / kinds.size()) % kinds.size()] = true;
  return wants;
}

// The lengths of a level's long cases, in turn. A relation makes several runs of each of its own.
using Lengths = std::span<const Length>;

using Way = Length::Way;

constexpr std::array<Length, 6> quick_pool = {{{300, Way::decode},
                                               {150, Way::room},
                                               {1030, Way::edges},
                                               {400, Way::wide},
                                               {300, Way::room},
                                               {130, Way::decode}}};
constexpr std::array<Length, 4> quick_relation = {
    {{300, Way::edges}, {150, Way::room}, {540, Way::edges}, {300, Way::room}}};
constexpr std::array<Length, 6> full_length = {{{520, Way::edges},
                                                {600, Way::room},
                                                {1030, Way::decode},
                                                {1300, Way::wide},
                                                {260, Way::decode},
                                                {2060, Way::edges}}};
constexpr std::array<Length, 6> nightly_length = {{{4100, Way::edges},
                                                   {600, Way::room},
                                                   {2060, Way::decode},
                                                   {3000, Way::wide},
                                                   {33000, Way::edges},
                                                   {520, Way::decode}}};

// Every so many cases one is long: the lengths grow with the level to which the case belongs.
Length length_of(bool pool, Level level, std::uint64_t index) {
  const std::uint64_t period = pool ? 50 : 10;
  if (index % period != period / 2 - 1) return {};
  const auto cases = [pool](Level of) {
    const CaseCounts counts = case_counts(of, 0);
    return pool ? counts.pool : counts.relation;
  };
  const Lengths quick = pool ? Lengths(quick_pool) : Lengths(quick_relation);
  if (index >= cases(level)) return {};  // more cases were requested than the level has
  const bool is_quick = index < cases(Level::quick);
  const bool is_full = index < cases(Level::full);
  const Lengths lengths = is_quick  ? quick
                          : is_full ? Lengths(full_length)
                                    : Lengths(nightly_length);
  return lengths[index / period % lengths.size()];
}

void keep_reason(Tally& tally, const NotTested& skipped) {
  if (tally.vacuous != 0 && (tally.of_right || !skipped.of_right)) return;
  tally.of_right = skipped.of_right;
  std::memset(tally.why_vacuous, 0, sizeof(tally.why_vacuous));
  std::strncpy(tally.why_vacuous, skipped.why.c_str(), sizeof(tally.why_vacuous) - 1);
}

void count(Tally& tally, const Judgement& judgement, const Coverage& seen, std::uint64_t index) {
  ++tally.cases;
  if (const auto* skipped = std::get_if<NotTested>(&judgement)) {
    keep_reason(tally, *skipped);
    ++tally.vacuous;
    return;
  }
  tally.coverage |= seen;
  if (std::holds_alternative<Finding>(judgement)) {
    tally.broken = true;
    tally.broken_at = index;
  }
}

constexpr std::uint64_t most_deaths = 150;
constexpr std::uint64_t most_pool_deaths = 60;
constexpr std::uint64_t most_relation_deaths = 3;
constexpr std::uint64_t hang_counts = 6;  // a hang costs what so many crashes do

template <std::size_t size>
void keep_text(const std::string& text, char (&kept)[size]) {
  std::strncpy(kept, text.c_str(), size - 1);
}

}  // namespace

bool was_stopped(const BatteryOptions& options, const std::function<void()>& work) {
  if (!options.report_interrupted) {
    work();
    return false;
  }
  if (ran_to_its_end(work)) return false;
  forget_stop();
  return true;
}

bool was_hang(std::string_view seen) {
  return seen.find("no answer") != std::string_view::npos;
}

void Board::note_death(std::uint64_t of, const std::string& text, const std::string& seen) {
  const std::uint64_t count = was_hang(seen) ? hang_counts : 1;
  deaths += count;
  (of == pool ? pool_deaths : tallies[of].deaths) += count;
  if (killer[0] != 0 || text.empty() || text.size() >= sizeof(killer)) return;
  keep_text(text, killer);
  keep_text(seen, how);
}

bool Board::given_up(std::uint64_t of) const {
  if (deaths >= most_deaths) return true;
  return of == pool ? pool_deaths >= most_pool_deaths : tallies[of].deaths >= most_relation_deaths;
}

double seconds_of(const BatteryOptions& options) {
  if (options.seconds > 0) return options.seconds;
  constexpr std::array<double, 3> by_level = {60, 600, 7200};
  return by_level[static_cast<std::size_t>(options.effort.level)];
}

CaseCounts case_counts(Level level, std::uint32_t wished) {
  if (wished > 0) return {wished, wished};
  constexpr std::array<CaseCounts, 3> by_level = {{{300, 40}, {3000, 300}, {30000, 3000}}};
  return by_level[static_cast<std::size_t>(level)];
}

Campaign::Campaign(Family& family, const BatteryOptions& options, std::vector<const Law*> laws)
    : family_(family),
      options_(options),
      laws_(std::move(laws)),
      begun_(options.clock ? options.clock() : 0) {
  KV_CHECK(laws_.size() <= Board::most_laws);
}

CaseSource Campaign::source(const Wants& wants, std::uint64_t seed, bool pool) const {
  CaseScope scope{.wants = wants,
                  .requested = family_.requested(),
                  .takes_sizes = family_.takes_sizes(),
                  .seed = seed,
                  .shared = pool};
  scope.contract = [this](const Setup& setup) -> std::optional<Contract> {
    auto contract = family_.contract(setup);
    if (!contract) return {};
    return *std::move(contract);
  };
  scope.length = [pool, level = options_.effort.level](std::uint64_t index) {
    return length_of(pool, level, index);
  };
  return CaseSource(std::move(scope));
}

CaseTree Campaign::case_of(std::uint64_t law, std::uint64_t index) const {
  const std::uint64_t seed = options_.effort.seed;
  if (law == Board::pool) return source(pool_wants(index), seed, true).at(index);
  return source(laws_[law]->wants, seed_for(seed, laws_[law]->id), false).at(index);
}

// Says what is at hand; no if it is too late to begin it.
bool Campaign::begin(Board& board, std::uint64_t law, std::uint64_t index) const {
  if (options_.clock && options_.clock() - begun_ > seconds_of(options_)) board.late = true;
  if (board.late || board.given_up(law)) return false;
  (law == Board::pool ? board.pool_next : board.tallies[law].next) = index + 1;
  board.law = law;
  board.index = index;
  ++board.cases;
  if (board.case_seconds > 0) stay_alive(board.case_seconds);
  return true;
}

void Campaign::run_pool(Board& board, std::uint64_t from, std::uint64_t to) const {
  for (std::uint64_t index = std::max(from, board.pool_next); index < to; ++index) {
    if (!begin(board, Board::pool, index)) return;
    auto history = run_case(family_, case_of(Board::pool, index).value());
    if (history && history->died) {
      board.note_death(Board::pool, history->what.text(), history->failure);
      continue;
    }
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      Tally& tally = board.tallies[i];
      if (!is_judge(*laws_[i]) || tally.broken) continue;
      const Judgement judgement =
          history ? std::get<JudgeHistory>(laws_[i]->check)(*history, history->contract)
                  : Judgement(NotTested{history.error().message});
      count(tally, judgement, history ? history->coverage : Coverage{}, index);
    }
  }
}

void Campaign::run_relation(Board& board,
                            std::uint64_t law,
                            std::uint64_t from,
                            std::uint64_t to) const {
  Tally& tally = board.tallies[law];
  for (std::uint64_t index = std::max(from, tally.next); index < to && !tally.broken; ++index) {
    if (!begin(board, law, index)) return;
    const double begun = options_.clock ? options_.clock() : 0;
    const Attempt tried = attempt(*laws_[law], family_, case_of(law, index).value());
    // A clock that leaves out what other programs took may step back a little.
    if (options_.clock) tally.seconds += std::max(0.0, options_.clock() - begun);
    if (tried.died_of) {
      board.note_death(law, tried.died_of->text(), tried.death);
      continue;
    }
    count(tally, tried.judgement, tried.coverage, index);
  }
}

namespace {

// How many cases there are after each round. The first round has one case of each relation, and
// each has twice as many as the one before, so that a subject that is slow meets every law before
// it meets one of them often.
std::vector<CaseCounts> rounds_to(const CaseCounts& all) {
  std::vector<CaseCounts> rounds;
  for (std::uint64_t relation = 1; relation < all.relation; relation *= 2) {
    rounds.push_back({(all.pool * relation + all.relation - 1) / all.relation, relation});
  }
  rounds.push_back(all);
  return rounds;
}

}  // namespace

void Campaign::run(Board& board) const {
  const CaseCounts all = case_counts(options_.effort.level, options_.cases);
  const bool judges = std::ranges::any_of(laws_, [](const Law* law) { return is_judge(*law); });
  const auto relations = static_cast<std::uint64_t>(
      std::ranges::count_if(laws_, [](const Law* law) { return is_relation(*law); }));
  board.out_of = (judges ? all.pool : 0) + relations * all.relation;
  CaseCounts done;
  for (const CaseCounts& next : rounds_to(all)) {
    if (judges) run_pool(board, done.pool, next.pool);
    for (std::uint64_t i = 0; i < laws_.size(); ++i) {
      if (is_relation(*laws_[i])) run_relation(board, i, done.relation, next.relation);
    }
    done = next;
  }
  if (board.case_seconds > 0) stay_alive(0);
}

}  // namespace kv::properties
