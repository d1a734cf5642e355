#include "kvcheck/base/threads/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kv {
namespace {

// The first number in the file; nothing if there is none ("max").
std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (!(file >> value)) return {};
  return value;
}

// The number after that word in a file of lines "word number".
std::optional<double> number_after(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    double value = 0;
    if (words >> first >> value && first == word) return value;
  }
  return {};
}

// With one blank between words, and none at the ends: names of processors are padded with blanks.
std::string words_in(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::uint64_t left_of(double limit, double used) {
  return limit > used ? static_cast<std::uint64_t>(limit - used) : 0;
}

// What a group uses without the pages of files that the kernel would give up at once.
double used_memory(const std::string& group, const char* used, const char* inactive) {
  return number_in(group + used).value_or(0) -
         number_after(group + "/memory.stat", inactive).value_or(0);
}

void limit_by_version_2(const std::string& group, ControlGroupLimits& limits) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && period > 0) limits.cores = std::min(limits.cores, quota / period);
  if (const auto most = number_in(group + "/memory.max")) {
    const double used = used_memory(group, "/memory.current", "inactive_file");
    limits.memory = std::min(limits.memory, left_of(*most, used));
  }
}

void limit_by_version_1(const std::string& group, ControlGroupLimits& limits) {
  const auto quota = number_in(group + "/cpu.cfs_quota_us");
  const auto period = number_in(group + "/cpu.cfs_period_us");
  // A quota of -1 is none.
  if (quota && period && *quota > 0 && *period > 0) {
    limits.cores = std::min(limits.cores, *quota / *period);
  }
  // No limit is written as the largest number of pages.
  constexpr double unlimited = 9e18;
  const auto most = number_in(group + "/memory.limit_in_bytes");
  if (most && *most < unlimited) {
    const double used = used_memory(group, "/memory.usage_in_bytes", "total_inactive_file");
    limits.memory = std::min(limits.memory, left_of(*most, used));
  }
}

// `controllers` are those of version 1, joined by commas; empty in version 2.
void limit_by_group(const std::string& mounted,
                    const std::string& controllers,
                    const std::string& path,
                    ControlGroupLimits& limits) {
  if (controllers.empty()) limit_by_version_2(mounted + path, limits);
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    limit_by_version_1(mounted + "/" + name + path, limits);
  }
}

// The cores on which the calling thread may run (taskset, cpusets of containers, batch systems).
// Some versions of glibc count all cores of the machine for hardware_concurrency().
unsigned allowed_cores() {
  // The system refuses a set that is smaller than its own, which a few thousand cores exceed.
  constexpr std::size_t most_sets = 64;
  for (std::size_t sets = 1; sets <= most_sets; sets *= 2) {
    std::vector<cpu_set_t> allowed(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, bytes, allowed.data()) != 0) continue;
    return static_cast<unsigned>(CPU_COUNT_S(bytes, allowed.data()));
  }
  return std::numeric_limits<unsigned>::max();
}

}  // namespace

ControlGroupLimits control_group_limits(const std::string& root) {
  ControlGroupLimits limits;
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/a/b" in version 2, "4:cpu,cpuacct:/a/b" in version 1.
  for (std::string line; std::getline(groups, line);) {
    std::istringstream parts(line);
    std::string number;
    std::string controllers;
    std::string path;
    if (!std::getline(parts, number, ':') || !std::getline(parts, controllers, ':') ||
        !std::getline(parts, path)) {
      continue;
    }
    // A group is limited by those around it, too. Where a container shows only its own group, as
    // the root, the folders of the path are not there and limit nothing.
    while (path.size() > 1 && path[0] == '/') {
      limit_by_group(root + "/sys/fs/cgroup", controllers, path, limits);
      path.resize(path.rfind('/'));
    }
    limit_by_group(root + "/sys/fs/cgroup", controllers, "", limits);
  }
  return limits;
}

std::size_t machine_threads() {
  const double cores = std::max(1U, std::min(std::thread::hardware_concurrency(), allowed_cores()));
  return static_cast<std::size_t>(
      std::max(1.0, std::min(cores, std::ceil(control_group_limits().cores))));
}

std::string processor_name(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  std::map<std::string, std::string> facts;  // of the first processor that is listed
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    facts.emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1),
                  words_in(line.substr(colon + 1)));
  }
  std::string name = facts["model name"];
  for (const auto& [key, word] :
       {std::pair{"cpu family", "family "}, std::pair{"model", "model "},
        std::pair{"CPU implementer", "implementer "}, std::pair{"CPU part", "part "}}) {
    if (!facts[key].empty()) name += (name.empty() ? "" : ", ") + (word + facts[key]);
  }
  return name;
}

std::uint64_t machine_memory() {
  std::uint64_t memory = control_group_limits().memory;
  if (const auto available = number_after("/proc/meminfo", "MemAvailable:")) {
    memory = std::min(memory, static_cast<std::uint64_t>(*available) * 1024);
  }
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const double used =
        number_in("/proc/self/statm").value_or(0) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    memory = std::min(memory, left_of(static_cast<double>(space.rlim_cur), used));
  }
  return memory;
}

}  // namespace kv
