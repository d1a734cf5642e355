// The cases of a battery: which there are, and what laws said of them.
//
// A campaign runs in a child process where the subject shares ours, so that whatever the subject
// does to it, the board shows how far it came. The board is plain data for that reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/generate.h"

namespace kv::properties {

// How many cases a level takes.
struct CaseCounts {
  std::uint64_t pool = 0;      // that all laws which judge histories share
  std::uint64_t relation = 0;  // of each relation
};

CaseCounts case_counts(Level level, std::uint32_t wished);

// How long the whole battery may take: what was asked for, or the level's own.
double seconds_of(const BatteryOptions& options);

// What the cases of one law came to.
struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t vacuous = 0;
  Coverage coverage;
  bool broken = false;
  std::uint64_t broken_at = 0;  // the index of the case that broke it
  char why_vacuous[160] = {};   // of the first such case, or the first that is of right
  bool of_right = false;        // the subject may keep some case from speaking to the law
  std::uint64_t next = 0;       // of a relation: the first case not begun
  std::uint64_t deaths = 0;     // of the subject, in cases of a relation
  double seconds = 0;           // of a relation: what its cases took, if there is a clock
};

// What is at hand, and what came of the rest.
struct Board {
  static constexpr std::uint64_t pool = ~std::uint64_t{0};

  std::uint64_t law = pool;  // the relation that is tried, by index; or the pool
  std::uint64_t index = 0;   // of the case
  std::uint64_t cases = 0;   // run so far
  std::uint64_t out_of = 0;  // of all that are planned
  bool late = false;         // stopped for lack of time
  bool interrupted = false;  // or because the user asked to
  double case_seconds = 0;   // a child that takes longer for a case dies; 0: no limit
  static constexpr std::uint64_t most_laws = 256;
  Tally tallies[most_laws];  // by index of the law

  // Deaths of the subject. Each costs a process, and one that hangs the wait for it: after so many
  // the rest is given up.
  std::uint64_t pool_next = 0;    // the first of the pool's cases not begun
  std::uint64_t pool_deaths = 0;  // of it
  std::uint64_t deaths = 0;       // of all cases
  char killer[1U << 14U] = {};    // the first run that was deadly by itself, as text
  char how[512] = {};             // what was seen of it

  // Counts a death in a case of the law; `text` and `seen` if the run was deadly by itself.
  void note_death(std::uint64_t of, const std::string& text, const std::string& seen);

  // Whether the law's cases, or the pool's, have been too deadly to go on.
  [[nodiscard]] bool given_up(std::uint64_t of) const;
};

// Does the work. Yes if the user asked to stop meanwhile and what was found until then is
// requested, so that what is asked from now on is not heard.
[[nodiscard]] bool was_stopped(const BatteryOptions& options, const std::function<void()>& work);

// Whether what was seen of a death is that nothing was: the subject hung.
bool was_hang(std::string_view seen);

class Campaign {
 public:
  // `laws` are those to try, without the statistical ones. Requires at most Board::most_laws.
  Campaign(Family& family, const BatteryOptions& options, std::vector<const Law*> laws);

  // The case that a law is tried on; with Board::pool, the pool's.
  [[nodiscard]] CaseTree case_of(std::uint64_t law, std::uint64_t index) const;

  // Tries all laws on all cases, in rounds of growing size so that a limit of time cuts all laws
  // alike and leaves none untried, and writes what comes of it to `board`. Continues where an
  // earlier run on the board ended.
  void run(Board& board) const;

  [[nodiscard]] const std::vector<const Law*>& laws() const { return laws_; }

 private:
  void run_pool(Board& board, std::uint64_t from, std::uint64_t to) const;
  void run_relation(Board& board, std::uint64_t law, std::uint64_t from, std::uint64_t to) const;
  bool begin(Board& board, std::uint64_t law, std::uint64_t index) const;
  [[nodiscard]] CaseSource source(const Wants& wants, std::uint64_t seed, bool pool) const;

  Family& family_;
  const BatteryOptions& options_;
  std::vector<const Law*> laws_;
  double begun_ = 0;
};

}  // namespace kv::properties
