// traces/FORMAT.md is held to what it says: its bytes open, its Python runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

using namespace testing;

const std::string python = "/usr/bin/python3";

// What stands in the code block after the line `mark`.
std::string block_after(const std::string& mark) {
  const std::string page = test::bytes_of_file(KVCHECK_SOURCE_DIR "/traces/FORMAT.md");
  const std::size_t at = page.find("\n" + mark);
  KV_CHECK(at != std::string::npos);
  const std::size_t begin = page.find('\n', page.find("```", at)) + 1;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(FormatPage, ExampleBytesAreATrace) {
  std::istringstream lines(block_after("```hex"));
  std::string bytes;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream columns(line.substr(6, 47));
    for (int value = 0; columns >> std::hex >> value;) bytes += static_cast<char>(value);
  }
  EXPECT_EQ(bytes.size(), 200U);
  const Trace trace = open_trace(test::temporary_file("example", bytes)).value();
  EXPECT_TRUE(verify(trace));
  std::vector<float> rows(4);
  kernels().widen(Number::f16, trace.layer(0).attention.data, 4, rows.data());
  EXPECT_THAT(rows, ElementsAre(1, 0, 0.25F, 0.75F));
}

class FormatPagePython : public Test {
 protected:
  void SetUp() override {
    const std::string probe = python + " -c 'import numpy' 2>/dev/null";
    if (std::system(probe.c_str()) != 0) GTEST_SKIP() << python << " cannot import numpy";
    folder_ = test::temporary_path("python");
    std::filesystem::create_directory(folder_);
  }

  void run(const std::string& script) const {
    std::ofstream(folder_ + "/script.py") << script;
    const std::string command = "cd '" + folder_ + "' && " + python + " script.py";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  [[nodiscard]] Trace opened(const std::string& name) const {
    return open_trace(folder_ + "/" + name).value();
  }

  std::string folder_;
};

TEST_F(FormatPagePython, DumpOfAttentionsOpensAndVerifies) {
  run("import numpy as np\n"
      "scores = np.random.default_rng(1).normal(size=(3, 1, 2, 40, 40))\n"
      "rows = np.exp(scores) * np.tri(40)\n"
      "attentions = tuple((rows / rows.sum(-1, keepdims=True)).astype('<f4'))\n" +
      block_after("<!-- tested: dump -->"));
  EXPECT_EQ(opened("grouped.npz").info().kv_heads, 1U);
  for (const char* name : {"attention.npy", "attention.npz"}) {
    const Trace trace = opened(name);
    EXPECT_EQ(trace.info().number, Number::f16);
    EXPECT_EQ(trace.info().query_heads, 2U);
    EXPECT_EQ(trace.info().tokens, 40U);
    EXPECT_THAT(trace.info().layers, ElementsAre(0, 1, 2));
    const auto report = verify(trace);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
  }
}

TEST_F(FormatPagePython, StepsOfAGenerationAreJoined) {
  run("import numpy as np\n"
      "def rows(queries, keys):\n"
      "    seen = np.tri(queries, keys, keys - queries, 'f4')\n"
      "    return np.tile(seen / seen.sum(-1, keepdims=True), (1, 2, 1, 1))\n"
      "attentions = [[rows(5, 5)] * 3, [rows(1, 6)] * 3, [rows(1, 7)] * 3]\n" +
      block_after("<!-- tested: steps -->"));
  const Trace trace = opened("generated.npz");
  EXPECT_EQ(trace.info().tokens, 7U);
  EXPECT_EQ(trace.info().query_heads, 2U);
  EXPECT_EQ(trace.info().kv_heads, 1U);
  EXPECT_THAT(trace.info().layers, ElementsAre(0, 1, 2));
  EXPECT_TRUE(verify(trace));
}

TEST_F(FormatPagePython, WriterMakesATrace) {
  run("import numpy as np\n"
      "q = np.ones((4, 5, 16), 'f4')\n"
      "k = v = np.full((2, 5, 16), 3, 'f4')\n" +
      block_after("<!-- tested: writer -->") + block_after("<!-- tested: writer call -->"));
  const Trace trace = opened("t.safetensors");
  EXPECT_EQ(trace.info().query_heads, 4U);
  EXPECT_EQ(trace.info().kv_heads, 2U);
  EXPECT_EQ(trace.info().head_dim, 16U);
  EXPECT_EQ(trace.info().rope, (Rope{RopeLayout::half, 8, 10000}));
  EXPECT_EQ(verify(trace).value().largest, 3);
}

TEST_F(FormatPagePython, WriterMakesATraceOfVersion2) {
  run("import numpy as np\n"
      "q = np.ones((4, 5, 16), 'f4')\n"
      "k = v = np.full((2, 5, 16), 3, 'f4')\n"
      "inv_freq = np.array([1, 0.1, 0.01, 0.001], 'f4')\n"
      "sinks = np.zeros(4, 'f4')\n" +
      block_after("<!-- tested: writer -->") + block_after("<!-- tested: rules call -->"));
  const Trace trace = opened("t2.safetensors");
  const LayerRules rules = rules_of(trace.info(), 0);
  EXPECT_EQ(rules.window, 128U);
  EXPECT_EQ(rules.cap, 50);
  EXPECT_THAT(rules.frequencies, ElementsAre(1, DoubleEq(double{0.1F}), DoubleEq(double{0.01F}),
                                             DoubleEq(double{0.001F})));
  EXPECT_THAT(rules.sinks, ElementsAre(0, 0, 0, 0));
}

TEST(BundledTrace, OpensVerifiesAndIsSmall) {
  const std::string path = KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";
  EXPECT_LT(std::filesystem::file_size(path), 2'600'000U);
  const Trace trace = open_trace(path).value();
  EXPECT_EQ(trace.info().tokens, 512U);
  EXPECT_EQ(trace.info().layers.size(), 6U);
  EXPECT_EQ(verify(trace).value().numbers, 6U * 3 * 4 * 512 * 32);
}

}  // namespace
}  // namespace kv
