// The battery tried on itself: every mutant must be killed, every law must kill one, and no right
// subject may be accused.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"

namespace kv::properties {

// A law that a mutant breaks, and the cases that it took to see it.
struct Killer {
  const Law* law = nullptr;
  std::uint64_t cases = 0;
};

// One mutant's row of the kill matrix.
struct Kill {
  const Mutant* mutant = nullptr;
  std::vector<Killer> killers{};
  std::string smallest;     // the smallest counterexample of the law that needed the fewest cases
  std::uint64_t cases = 0;  // that it needed; statistics, which count as one case, come last
};

struct Accusation {
  const RightSubject* subject = nullptr;
  const Law* law = nullptr;
  std::uint64_t seed = 0;
  std::string reproduce;
};

struct SelftestOptions {
  // Which subjects are tried.
  std::span<const Mutant> mutants = kv::properties::mutants();
  std::span<const RightSubject> right_subjects = kv::properties::right_subjects();

  std::uint64_t seed = 1;
  std::uint32_t right_runs = 1;     // batteries per right subject, each with a seed of its own
  std::vector<std::string> filter;  // names of mutants and right subjects; empty: all
  std::uint32_t workers = 0;        // processes at once, which changes no result; 0: all cores
  std::function<double()> clock;

  // Called with the share of the work that is done, in [0, 1], and what is at hand; may be null.
  std::function<void(double, std::string_view)> progress;
};

struct SelftestResult {
  std::uint64_t seed = 0;
  bool whole = false;                   // mutants were tried, and nothing was filtered
  std::vector<Kill> kills{};            // one per mutant tried
  std::vector<const Law*> idle_laws{};  // that killed nothing; of a run without filter only
  std::vector<Accusation> accusations{};
  std::uint64_t right_subjects = 0;
  std::uint64_t right_batteries = 0;  // of all of them

  // Every mutant killed or declared equivalent (and then not killed), no idle law (when nothing was
  // filtered), no accusation.
  [[nodiscard]] bool passed() const;
};

// Whether a mutant was to be killed and was not, or the reverse.
bool is_surprise(const Kill& kill);

// An error if the filter names no mutant and no right subject, or if the system refuses memory or
// the process of a battery.
Result<SelftestResult> run_selftest(const SelftestOptions& options);

// The kill matrix as text for people, and as JSON, which reports/tables/kill_matrix.h reads.
void write_text(const SelftestResult& report, std::ostream& out);
void write_json(const SelftestResult& report, std::ostream& out);

}  // namespace kv::properties
