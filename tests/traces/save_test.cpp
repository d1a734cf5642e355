// A trace in memory, saved and opened again.
#include "kvcheck/traces/files/save.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "kvcheck/tests/traces/synthetic_helpers.h"

namespace kv::synthetic_test {
namespace {

std::string path_of(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) /
          ("kvcheck-save-" + std::to_string(::getpid()) + "-" + name))
      .string();
}

void expect_same(const TensorView& a, const TensorView& b) {
  ASSERT_EQ(a.shape, b.shape);
  ASSERT_EQ(a.number, b.number);
  EXPECT_EQ(std::memcmp(a.data, b.data, a.numbers() * a.bytes_per_number()), 0);
}

TEST(SaveTrace, KeepsEveryNumberOfRowsAndFactors) {
  for (const std::string kind : {"kind=attention", "kind=attention,dtype=f16", "kind=qkv"}) {
    const std::string path = path_of("same.safetensors");
    // More numbers than one piece of the writer's.
    const Trace trace = make("zipf:tokens=300,layers=2,heads=4,kv_heads=2," + kind);
    ASSERT_TRUE(save_trace(trace, path)) << kind;
    const auto checksum = saved_checksum(trace);
    const auto opened = open_trace(path);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(checksum);
    EXPECT_EQ(opened->info().checksum, *checksum);
    EXPECT_EQ(opened->info().source, trace.info().source);
    EXPECT_EQ(opened->info().layers, trace.info().layers);
    EXPECT_EQ(opened->info().kv_heads, trace.info().kv_heads);
    EXPECT_EQ(opened->info().rope, trace.info().rope);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      if (trace.info().kind == TraceKind::attention) {
        expect_same(opened->layer(layer).attention, trace.layer(layer).attention);
        continue;
      }
      expect_same(opened->layer(layer).q, trace.layer(layer).q);
      expect_same(opened->layer(layer).k, trace.layer(layer).k);
      expect_same(opened->layer(layer).v, trace.layer(layer).v);
    }
    std::filesystem::remove(path);
  }
}

TEST(SaveTrace, NamesAFolderThatIsNotThere) {
  const auto saved = save_trace(make("uniform:tokens=4"), "/nonexistent/folder/t.safetensors");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, testing::HasSubstr("/nonexistent/folder/t.safetensors"));
}

}  // namespace
}  // namespace kv::synthetic_test
