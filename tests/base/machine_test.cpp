#include "kvcheck/base/threads/machine.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace kv {
namespace {

namespace fs = std::filesystem;
using namespace testing;

// A folder that looks like the root of a system.
class Machine : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  [[nodiscard]] ControlGroupLimits limits() const { return control_group_limits(root_); }

  std::string root_ = testing::TempDir() + "kvcheck-machine-" + std::to_string(::getpid());
};

TEST_F(Machine, NothingThereLimitsNothing) {
  EXPECT_EQ(limits(), ControlGroupLimits());
  put("/proc/self/cgroup", "0::/\nno colon\n1:cpu\n3::\n:::::\n");
  EXPECT_EQ(limits(), ControlGroupLimits());
}

TEST_F(Machine, TheTightestGroupAroundTheProcessCounts) {
  put("/proc/self/cgroup", "0::/batch/job\n");
  put("/sys/fs/cgroup/batch/job/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/batch/cpu.max", "250000 100000\n");
  put("/sys/fs/cgroup/batch/job/memory.max", "1000000\n");
  put("/sys/fs/cgroup/batch/job/memory.current", "400000\n");
  put("/sys/fs/cgroup/batch/job/memory.stat", "anon 1\ninactive_file 100000\nfile 9\n");
  put("/sys/fs/cgroup/batch/memory.max", "max\n");
  EXPECT_EQ(limits(), (ControlGroupLimits{.cores = 2.5, .memory = 700000}));
}

TEST_F(Machine, AContainerSeesItsOwnGroupAsTheRoot) {
  put("/proc/self/cgroup", "0::/system/container-1\n");
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  put("/sys/fs/cgroup/memory.max", "4096\n");
  put("/sys/fs/cgroup/memory.current", "8192\n");
  EXPECT_EQ(limits(), (ControlGroupLimits{.cores = 0.5, .memory = 0}));
}

TEST_F(Machine, VersionOneHasAFolderForEachController) {
  put("/proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits(), (ControlGroupLimits{.cores = 3}));
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "10000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "9000\n");
  put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 500\n");
  EXPECT_EQ(limits(), (ControlGroupLimits{.cores = 3, .memory = 1500}));
}

TEST_F(Machine, TheProcessorIsTheFirstThatTheSystemLists) {
  EXPECT_EQ(processor_name(root_), "");
  put("/proc/cpuinfo",
      "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) CPU  8-1 "
      "@ 2 GHz\n\nmodel name\t: another\nmodel\t\t: 9\n");
  EXPECT_EQ(processor_name(root_), "Intel(R) Xeon(R) CPU 8-1 @ 2 GHz, family 6, model 85");
  put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  EXPECT_EQ(processor_name(root_), "implementer 0x41, part 0xd40");
  put("/proc/cpuinfo", ": \n:\nmodel name\t\nmodel name\t:\n");
  EXPECT_EQ(processor_name(root_), "");
}

TEST_F(Machine, ThisOneHasAThreadAndMemory) {
  EXPECT_GE(machine_threads(), 1U);
  EXPECT_GT(machine_memory(), std::uint64_t{1} << 20);
}

// In a thread of its own, as the affinity is that of a thread. A machine with one core passes.
TEST_F(Machine, OneAllowedCoreIsOneThread) {
  std::size_t threads = 0;
  std::jthread([&threads] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    if (::sched_setaffinity(0, sizeof(one), &one) == 0) threads = machine_threads();
  }).join();
  EXPECT_EQ(threads, 1U);
}

// In a process of its own, as the limit cannot be taken back.
TEST_F(Machine, ALimitOfAddressSpaceIsOneOfMemory) {
  const auto under_a_limit = [] {
    const rlim_t most = rlim_t{1} << 50;
    const rlimit limit = {most, most};
    ::setrlimit(RLIMIT_AS, &limit);
    if (machine_memory() >= most) ::_exit(1);
    const rlimit none_left = {4096, 4096};
    ::setrlimit(RLIMIT_AS, &none_left);
    ::_exit(machine_memory() == 0 ? 0 : 2);
  };
  EXPECT_EXIT(under_a_limit(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kv
