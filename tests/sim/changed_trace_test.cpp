#include <filesystem>
#include <fstream>

#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using namespace testing;
namespace fs = std::filesystem;

// A replay of a trace that `change` alters after the replay has begun.
std::string replayed_while(const std::function<void(const std::string& path)>& change) {
  const std::string path = test::temporary_file("changing.safetensors", test::SmallQkv().bytes());
  const Result<Trace> trace = open_trace(path);
  EXPECT_TRUE(trace);
  bool done = false;
  ReplayOptions options;
  options.threads = 1;
  options.progress = [&](double) {
    if (!done) change(path);
    done = true;
    return true;
  };
  const std::vector<Cell> cells = {{*parse_spec("window:budget=2")}};
  const Result<ReplayResult> result = replay(*trace, cells, options);
  EXPECT_TRUE(done);
  fs::remove(path);
  return result ? "replayed" : result.error().message;
}

TEST(ChangedTrace, BytesWrittenInPlaceEndTheReplay) {
  const std::string message = replayed_while([](const std::string& path) {
    const auto size = static_cast<std::streamoff>(fs::file_size(path));
    std::fstream(path, std::ios::in | std::ios::out).seekp(size - 1).put(1);
  });
  EXPECT_THAT(message,
              HasSubstr("changing.safetensors' changed while it was read: its checksum was"));
}

TEST(ChangedTrace, SoDoBytesThatAreAdded) {
  EXPECT_THAT(replayed_while(
                  [](const std::string& path) { fs::resize_file(path, fs::file_size(path) + 1); }),
              HasSubstr("changed while it was read: it had "));
}

TEST(ChangedTrace, ATouchedFileIsUnchanged) {
  EXPECT_EQ(replayed_while([](const std::string& path) { fs::last_write_time(path, {}); }),
            "replayed");
}

TEST(ChangedTrace, SoIsOneThatAnotherReplacedOrThatIsGone) {
  EXPECT_EQ(replayed_while([](const std::string& path) {
              fs::rename(test::temporary_file("other", "other"), path);
            }),
            "replayed");
  EXPECT_EQ(replayed_while([](const std::string& path) { fs::remove(path); }), "replayed");
}

}  // namespace
}  // namespace kv
