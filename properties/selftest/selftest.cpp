#include "kvcheck/properties/selftest/selftest.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/nearest_words.h"
#include "kvcheck/properties/battery/battery_results.h"
#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/cases/child.h"

namespace kv::properties {
namespace {

// One battery: of a mutant, or of a right subject with a seed of its own.
struct Job {
  const Mutant* mutant = nullptr;
  const RightSubject* right = nullptr;
  std::uint64_t seed = 0;
  bool again = false;  // with another seed than before

  [[nodiscard]] std::string_view name() const { return mutant ? mutant->name : right->name; }
};

// What a worker process leaves of a job.
struct Slot {
  bool done;
  std::uint32_t killers;
  std::uint16_t laws[Board::most_laws];
  std::uint64_t cases[Board::most_laws];
  std::uint64_t needed;  // cases of the law that needed the fewest
  char words[8192];      // the smallest case, or what repeats the accusation
  char error[512];
};

void keep(std::string_view text, std::span<char> where) {
  const std::size_t size = std::min(text.size(), where.size() - 1);
  std::copy_n(text.begin(), size, where.begin());
}

// The broken law that needed the fewest cases; statistics, which count as one, come last.
LawResult* quickest(BatteryResult& results) {
  LawResult* best = nullptr;
  for (LawResult& result : results.laws) {
    if (result.status != Status::broken) continue;
    const auto rank = [](const LawResult& r) { return std::pair(!r.smallest, r.cases); };
    if (best == nullptr || rank(result) < rank(*best)) best = &result;
  }
  return best;
}

// All laws but the one whose verdict no seed changes, as it tries every outcome of every draw.
std::vector<std::string> laws_with_seeds() {
  std::vector<std::string> ids;
  for (const Law& law : laws()) {
    if (law.id != "chance.exact") ids.emplace_back(law.id);
  }
  return ids;
}

void run_job(const Job& job, const SelftestOptions& options, Slot& slot) {
  const std::unique_ptr<Family> family = job.mutant ? job.mutant->make() : job.right->make();
  BatteryOptions battery;
  battery.effort.seed = job.seed;
  battery.shrink = false;
  if (job.again) battery.filter = laws_with_seeds();
  battery.clock = options.clock;
  auto results = run_battery(*family, battery);
  if (!results) return keep(results.error().message, slot.error);
  for (const LawResult& result : results->laws) {
    if (result.status != Status::broken) continue;
    slot.laws[slot.killers] = static_cast<std::uint16_t>(result.law - laws().data());
    slot.cases[slot.killers++] = result.cases;
  }
  LawResult* const best = quickest(*results);
  if (best == nullptr) return;
  slot.needed = best->cases;
  if (job.right != nullptr) return keep(best->reproduce, slot.words);
  if (best->measured) return keep(best->measured->sentence, slot.words);
  battery.shrink = true;
  const bool died = best->history && best->history->died;
  if (!died) {
    constexpr double seconds = 2;
    Explainer explainer(*family, battery, nullptr);
    const Explainer::Broken broken{best, CaseTree(*best->smallest, family->takes_sizes()), seconds};
    explainer.explain({&broken, 1}, {});
  }
  keep(best->smallest->text(), slot.words);
}

bool selected(std::string_view name, const std::vector<std::string>& filter) {
  return filter.empty() || std::ranges::find(filter, name) != filter.end();
}

Result<std::vector<Job>> jobs_of(const SelftestOptions& options) {
  std::vector<Job> jobs;
  std::vector<std::string_view> names;
  for (const Mutant& mutant : options.mutants) {
    names.push_back(mutant.name);
    if (!selected(mutant.name, options.filter)) continue;
    jobs.push_back({.mutant = &mutant, .seed = options.seed});
  }
  for (const RightSubject& right : options.right_subjects) {
    names.push_back(right.name);
    if (!selected(right.name, options.filter)) continue;
    for (std::uint32_t run = 0; run < options.right_runs; ++run) {
      jobs.push_back({.right = &right, .seed = options.seed + run, .again = run > 0});
    }
  }
  for (const std::string& word : options.filter) {
    if (std::ranges::find(names, word) == names.end()) {
      return usage_error(unknown_among_many("mutant or right subject", word, names,
                                            "docs/kill-matrix.md names all mutants"));
    }
  }
  return jobs;
}

std::uint32_t workers_of(const SelftestOptions& options) {
  if (options.workers > 0) return options.workers;
  return static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

// Memory and processes that the system refuses are no fault of the job's subject or of the battery.
void run_or_say_why(const Job& job, const SelftestOptions& options, Slot& slot) {
  try {
    run_job(job, options, slot);
  } catch (const std::bad_alloc&) {
    keep("out of memory", slot.error);
  } catch (const std::system_error& error) {
    keep(error.what(), slot.error);
  }
}

Result<void> run_jobs(const std::vector<Job>& jobs, const SelftestOptions& options, Slot* slots) {
  // Processes and not threads: batteries fork, and a fork among threads may keep a lock for ever.
  const SharedMemory counter(sizeof(std::atomic<std::size_t>));
  auto* const next = std::construct_at(static_cast<std::atomic<std::size_t>*>(counter.data()), 0U);
  const auto work = [&](std::uint32_t) {
    for (std::size_t i = (*next)++; i < jobs.size(); i = (*next)++) {
      run_or_say_why(jobs[i], options, slots[i]);
      slots[i].done = true;
    }
  };
  const auto wait = [&] {
    const std::size_t begun = std::min(next->load(), jobs.size());
    if (!options.progress || begun == 0) return;
    options.progress(static_cast<double>(begun - 1) / static_cast<double>(jobs.size()),
                     jobs[begun - 1].name());
  };
  const std::string death = run_in_children(workers_of(options), work, wait);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string_view why = slots[i].done ? std::string_view(slots[i].error) : death;
    if (why.empty()) continue;
    return io_error("the battery of '" + std::string(jobs[i].name()) +
                    "' in a child process: " + std::string(why));
  }
  return {};
}

void read_slot(const Job& job, const Slot& slot, SelftestResult& results) {
  if (job.right != nullptr) {
    ++results.right_batteries;
    for (std::uint32_t i = 0; i < slot.killers; ++i) {
      results.accusations.push_back({.subject = job.right,
                                     .law = &laws()[slot.laws[i]],
                                     .seed = job.seed,
                                     .reproduce = slot.words});
    }
    return;
  }
  Kill kill{.mutant = job.mutant, .smallest = slot.words, .cases = slot.needed};
  for (std::uint32_t i = 0; i < slot.killers; ++i) {
    kill.killers.push_back({&laws()[slot.laws[i]], slot.cases[i]});
  }
  results.kills.push_back(std::move(kill));
}

void find_idle(SelftestResult& results) {
  for (const Law& law : laws()) {
    const bool kills = std::ranges::any_of(results.kills, [&](const Kill& kill) {
      return std::ranges::find(kill.killers, &law, &Killer::law) != kill.killers.end();
    });
    if (!kills) results.idle_laws.push_back(&law);
  }
}

}  // namespace

bool is_surprise(const Kill& kill) {
  return kill.killers.empty() == kill.mutant->equivalent.empty();
}

bool SelftestResult::passed() const {
  return std::ranges::none_of(kills, is_surprise) && idle_laws.empty() && accusations.empty();
}

Result<SelftestResult> run_selftest(const SelftestOptions& options) {
  const auto jobs = jobs_of(options);
  if (!jobs) return jobs.error();
  KV_CHECK(laws().size() <= Board::most_laws);
  const SharedMemory memory(sizeof(Slot) * std::max<std::size_t>(1, jobs->size()));
  auto* const slots = static_cast<Slot*>(memory.data());
  if (const auto done = run_jobs(*jobs, options, slots); !done) return done.error();
  SelftestResult results{.seed = options.seed,
                         .whole = options.filter.empty() && !options.mutants.empty()};
  for (std::size_t i = 0; i < jobs->size(); ++i) read_slot((*jobs)[i], slots[i], results);
  results.right_subjects = results.right_batteries / options.right_runs;
  if (results.whole) find_idle(results);
  return results;
}

}  // namespace kv::properties
