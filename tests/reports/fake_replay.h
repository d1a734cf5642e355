// A believable ReplayResult without a replay: a small cache simulation over made-up attention.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv::testing {

struct FakeReplay {
  std::size_t tokens = 512;
  std::size_t layers = 6;
  std::size_t heads = 4;  // query heads per layer, each its own unit
  std::vector<std::string> specs = {"dense",
                                    "window",
                                    "streaming:sinks=4",
                                    "random:sinks=4",
                                    "reservoir:sinks=4",
                                    "h2o:sinks=4",
                                    "tova:sinks=4",
                                    "streaming:sinks=4;timing=lazy:32"};
  std::vector<std::uint32_t> budgets = {32, 64, 128, 256};
  std::vector<std::uint64_t> seeds = {1, 2, 3};  // of the policies that draw
  bool values = true;                            // whether there is an output error
};

ReplayResult fake_replay(const FakeReplay& fake = {});

// A small one, for tests that compare everything.
FakeReplay small_fake();

// A folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

std::string read_text(const std::string& path);

// The value, which must be there.
template <typename T>
T taken(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

}  // namespace kv::testing
