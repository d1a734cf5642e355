// Traces of version 1: what a replay of one prints and what is written of one is, byte for byte,
// what it was before there was a version 2. The checksums are those of the program before that,
// except that products were not fused into their sums then: since they are, no decision changed,
// and no number of the first test by more than 1e-6 of itself.
#include <gnu/libc-version.h>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/traces/files/checksum.h"

namespace kv {
namespace {

using test::Ran;

class Version1 : public testing::Test {
 protected:
  void SetUp() override {
    // Cosines and logarithms are the C library's, and their last bits differ between its versions.
    if (std::string(gnu_get_libc_version()) != "2.36") {
      GTEST_SKIP() << "the checksums are those of another C library";
    }
  }

  // The checksum of the file that the command writes as $O, run in the root of the sources.
  [[nodiscard]] std::string written(const std::string& command) const {
    const std::string out = folder_ / "out";
    const Ran ran = test::run_shell("cd '" KVCHECK_SOURCE_DIR "' && O='" + out + "' && " + command);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto file = MappedFile::open(out);
    return file ? hexadecimal(checksum_of(*file)) : "nothing";
  }

  const test::TemporaryFolder folder_;
};

TEST_F(Version1, TracesReplayToTheSameBytes) {
  EXPECT_EQ(written("$K replay traces/data/tinystories-2m.qkv.safetensors"
                    " --policy 'streaming:sinks=4,recent=60'"
                    " --policy 'streaming:sinks=4,recent=60;positions=in-cache'"
                    " --policy h2o:budget=64 --policy expected-attention:budget=64"
                    " --policy 'snapkv:budget=64;positions=in-cache'"
                    " --policy reservoir:sinks=4,recent=28,budget=64"
                    " --policy 'dense;visibility=top-pages:64/16/1'"
                    " --policy 'h2o:budget=48;unit=layer'"
                    " --per-head --top-k 4 -q --json $O > /dev/null"),
            "19292bf56410d2ad");
}

TEST_F(Version1, TracesAreCopiedAndCutToTheSameBytes) {
  const std::string bundled = "traces/data/tinystories-2m.qkv.safetensors -o $O > /dev/null";
  EXPECT_EQ(written("$K trace convert " + bundled), "33f430ccd6ba3faa");
  EXPECT_EQ(written("$K trace slice --layers 1,3 --tokens 100 " + bundled), "ac7bf441012a6e5a");
}

TEST_F(Version1, RecordingsHaveTheSameBytes) {
  const std::string record =
      "$K record --model model/data --text model/data/held-out.txt --tokens 96 -q -o $O"
      " 2> /dev/null ";
  EXPECT_EQ(written(record + "--kind qkv --storage f16"), "6dd1ca1db8d2d51d");
  EXPECT_EQ(written(record + "--kind qkv --storage f32"), "c489adc52011f2a4");
  EXPECT_EQ(written(record + "--kind attention --storage f16"), "7e11e4809ea6f413");
}

}  // namespace
}  // namespace kv
