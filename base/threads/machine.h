// What the machine, the containers around the process and its own limits leave to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace kv {

// The limits of all control groups (versions 1 and 2) that the process is in. Containers and batch
// systems set them; the system's counts of cores and of free memory do not show them.
struct ControlGroupLimits {
  double cores = std::numeric_limits<double>::infinity();
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();  // bytes that are still free

  bool operator==(const ControlGroupLimits&) const = default;
};

// Reads proc/self/cgroup and sys/fs/cgroup in the folder `root`. What cannot be read limits
// nothing.
ControlGroupLimits control_group_limits(const std::string& root = "/");

// How many threads the process may run at once: the cores on which the calling thread may run (its
// affinity, which new threads inherit), and no more than the control groups give it time for,
// rounded up. At least 1.
std::size_t machine_threads();

// The processor as the system names it: "AMD EPYC, family 25, model 17", or on ARM "implementer
// 0x41, part 0xd40". Empty if the system does not say. Reads proc/cpuinfo in the folder `root`.
std::string processor_name(const std::string& root = "/");

// How many bytes the process can still allocate: the least of what the machine has available, what
// the control groups leave, and what the process's limit of address space leaves.
std::uint64_t machine_memory();

}  // namespace kv
