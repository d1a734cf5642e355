#include "kvcheck/cli/ranks/ranks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/base/version.h"

namespace kv::cli {
namespace {

constexpr const char* module_name = "kvcheck_mpi.so";

// How many ranks the launcher says that it has started. Open MPI, then MPICH and Intel MPI, then
// Slurm's srun --mpi=pmi2 set these variables.
std::size_t launched_ranks() {
  constexpr std::array<const char*, 2> variables = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  constexpr std::uint64_t most = 1U << 30U;
  for (const char* variable : variables) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    if (const auto count = parse_count(value, variable, 1, most)) return *count;
  }
  return 1;
}

// Where the module is: beside the program in a build tree, else where it is installed. Empty if it
// is at neither place.
std::string module_path() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return "";
  const auto folder = program.parent_path();
  for (const auto& path : {folder / module_name, folder / KVCHECK_MODULES / module_name}) {
    if (std::filesystem::is_regular_file(path, unknown)) return path.string();
  }
  return "";
}

Error no_module(std::size_t count, const std::string& why) {
  return usage_error("a launcher of MPI has started " + std::to_string(count) + " ranks, but " +
                     why + "; expected a build with -DKVCHECK_MPI=ON (docs/sweeps.md), or --shard");
}

}  // namespace

std::size_t threads_of(const Ranks& ranks) {
  const auto cores = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const std::size_t share = std::max<std::size_t>(1, cores / ranks.on_this_machine());
  return std::min(share, machine_threads());
}

Result<std::unique_ptr<Ranks>> join_ranks() {
  const std::size_t count = launched_ranks();
  if (count < 2) return std::unique_ptr<Ranks>();
  const std::string path = module_path();
  if (path.empty()) return no_module(count, std::string("there is no ") + module_name);
  // Open MPI loads parts of itself, which need its symbols.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const symbol = module == nullptr ? nullptr : ::dlsym(module, join_ranks_symbol);
  if (symbol == nullptr) {
    return no_module(count, "'" + path + "' cannot be loaded: " + ::dlerror());
  }
  std::string failure;
  auto* const join = reinterpret_cast<JoinRanks*>(symbol);
  std::unique_ptr<Ranks> ranks(join(version, failure));
  if (ranks == nullptr) return no_module(count, "'" + path + "' " + failure);
  return ranks;
}

}  // namespace kv::cli
