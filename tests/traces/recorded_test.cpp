// The first-draft recordings that are lent beside a checkout; skipped where they are not.
#include <cstdlib>
#include <filesystem>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using namespace testing;

std::string recorded(const std::string& name) {
  const char* const shared = std::getenv("KVCHECK_SHARED");
  const std::string folder = shared != nullptr ? shared : KVCHECK_SOURCE_DIR "/../shared";
  return folder + "/data/recorded/" + name;
}

Trace opened(const std::string& name) {
  return open_trace(recorded(name)).value();
}

class Recorded : public Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(recorded("SOURCE.txt"))) {
      GTEST_SKIP() << "no recorded traces at " << recorded("") << "; set KVCHECK_SHARED";
    }
  }
};

TEST_F(Recorded, OpensGroupedQueries) {
  const Trace trace = opened("stories260k.qkv.safetensors");
  const TraceInfo& info = trace.info();
  EXPECT_EQ(info.name, "stories260k.qkv.safetensors");
  EXPECT_EQ(info.kind, TraceKind::qkv);
  EXPECT_EQ(info.tokens, 512U);
  EXPECT_EQ(info.query_heads, 8U);
  EXPECT_EQ(info.kv_heads, 4U);
  EXPECT_EQ(info.head_dim, 8U);
  EXPECT_THAT(info.layers, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(info.rope, (Rope{RopeLayout::interleaved, 8, 10000}));
  EXPECT_EQ(info.number, Number::f16);
  EXPECT_THAT(trace.layer(4).k.shape, ElementsAre(4, 512, 8));
  ASSERT_EQ(trace.token_ids().size(), 512U);
  EXPECT_EQ(trace.token_ids()[0], 1);
  EXPECT_EQ(trace.transcript().text_ends.back(),
            static_cast<std::int64_t>(trace.transcript().text.size()));
}

TEST_F(Recorded, OpensAttentionRowsThatBeginAtAnOddOffset) {
  const Trace trace = opened("tinystories-2m.attention.safetensors");
  EXPECT_EQ(trace.info().kind, TraceKind::attention);
  EXPECT_EQ(trace.info().layers.size(), 6U);
  EXPECT_THAT(trace.layer(0).attention.shape, ElementsAre(4, 512, 512));
  float first = 0;
  kernels().widen(Number::f16, trace.layer(0).attention.data, 1, &first);
  EXPECT_EQ(first, 1.0F);  // the first token can only look at itself
}

}  // namespace
}  // namespace kv
