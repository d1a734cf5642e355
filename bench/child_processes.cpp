// What child processes cost the battery: the processor time of the same battery with every touch of
// the subject in a child, as it is run, and without any child.
//
//   child_processes [ROUNDS [SUBJECT...]]
//
// A subject is a right subject or a mutant of `kvcheck selftest`. The two alternate, each is the
// first as often as the other, and the ratio is that of the medians. The laws on chance are left
// out: they draw fewer streams outside this process, so that the work would not be the same. On one
// core:
//   taskset -c 1 build/release/bench/child_processes 15
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/forwarding.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"

namespace {

using namespace kv::properties;

// Taken for a family whose subjects cannot harm this process.
class WithoutChildren final : public ForwardingFamily {
 public:
  using ForwardingFamily::ForwardingFamily;

  [[nodiscard]] bool in_process() const override { return false; }
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// User and system time of this process and of the children that it waited for.
double processor_time() {
  double sum = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(whose, &used);
    sum += seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  return sum;
}

std::unique_ptr<Family> family_named(const std::string& name) {
  const auto find = [&](const auto& all) -> std::unique_ptr<Family> {
    const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.name == name; });
    return found == all.end() ? nullptr : found->make();
  };
  auto right = find(right_subjects());
  return right ? std::move(right) : find(mutants());
}

std::vector<std::string> laws_on_cases() {
  std::vector<std::string> ids;
  for (const Law& law : laws()) {
    if (!law.id.starts_with("chance.")) ids.emplace_back(law.id);
  }
  return ids;
}

struct Timed {
  double seconds = 0;
  std::size_t broken = 0;
  std::uint64_t cases = 0;
};

Timed timed(Family& family, std::uint64_t seed) {
  BatteryOptions options;
  options.effort.seed = seed;
  options.filter = laws_on_cases();
  const double begun = processor_time();
  const auto report = run_battery(family, options);
  if (!report) std::exit(2);
  return {processor_time() - begun, report->count(Status::broken), report->cases};
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

void compare(const std::string& name, std::uint64_t rounds) {
  const auto family = family_named(name);
  if (!family) {
    std::fprintf(stderr, "unknown subject %s\n", name.c_str());
    std::exit(2);
  }
  WithoutChildren alone(*family);
  std::vector<double> with;
  std::vector<double> without;
  Timed last;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const bool children : {round % 2 == 0, round % 2 != 0}) {
      last = timed(children ? *family : alone, 1 + round / 2);
      (children ? with : without).push_back(last.seconds);
    }
  }
  std::printf("| %s | %llu | %zu | %.3f | %.3f | %+.1f %% |\n", name.c_str(),
              static_cast<unsigned long long>(last.cases), last.broken, median(without),
              median(with), 100 * (median(with) / median(without) - 1));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 15;
  std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  if (names.empty()) {
    names = {"plain-streaming", "plain-h2o", "h2o;timing=lazy:4;visibility=window", "plain-pages",
             "trims-one-late"};
  }
  std::puts("| subject | cases | broken laws | s without children | s with children | more |");
  std::puts("| --- | --- | --- | --- | --- | --- |");
  for (const std::string& name : names) compare(name, std::max<std::uint64_t>(rounds, 1));
}
