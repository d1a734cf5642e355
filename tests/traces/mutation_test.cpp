// Any damage to a good file ends in a trace that can be read or in one sentence, never in a crash.
// Under the address sanitizer this also shows that no view leaves its file.
#include <rapidcheck.h>

#include <array>

#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

// Opens `bytes` and, if that works, reads every number.
void open_and_read(const std::string& bytes) {
  const std::string path = test::temporary_file("mutated", bytes);
  const Result<Trace> trace = open_trace(path);
  std::string message;
  if (!trace) {
    message = trace.error().message;
  } else if (const auto report = verify(trace.value()); !report) {
    message = report.error().message;
  } else {
    return;
  }
  RC_ASSERT(!message.empty());
  RC_ASSERT(message.find('\n') == std::string::npos);
  RC_ASSERT(message.size() < 600U);
}

std::string good_file(std::size_t kind) {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2), }";
  std::string array = test::npy(dictionary, test::bytes_of({1, 0, 0.5F, 0.5F}));
  if (kind == 1) return array;
  if (kind >= 2) return test::zip({{"attention.npy", array, kind == 3}});
  return test::SmallQkv().bytes();
}

class Mutation : public testing::TestWithParam<std::size_t> {};

TEST_P(Mutation, NeverCrashesOnChangedBytes) {
  const std::string good = good_file(GetParam());
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = good;
    const auto changes = *rc::gen::inRange<std::size_t>(1, 6);
    for (std::size_t i = 0; i < changes; ++i) {
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
          static_cast<char>(*rc::gen::inRange(0, 256));
    }
    open_and_read(bytes);
  }));
}

TEST_P(Mutation, NeverCrashesOnChangedDigitsAndMarks) {
  // Random bytes seldom get past the JSON; these do.
  const std::string good = good_file(GetParam());
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = good;
    const auto changes = *rc::gen::inRange<std::size_t>(1, 4);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = bytes.find_first_of("0123456789\"[]{}(),:qkv",
                                                 *rc::gen::inRange<std::size_t>(0, bytes.size()));
      if (at == std::string::npos) continue;
      bytes[at] = *rc::gen::elementOf(std::string("0123456789-.\",[]{}qkv"));
    }
    open_and_read(bytes);
  }));
}

TEST_P(Mutation, NeverOpensATruncatedFile) {
  const std::string good = good_file(GetParam());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(test::error_of(std::string_view(good).substr(0, size)), "opened") << size;
  }
  EXPECT_EQ(test::error_of(good), "opened");
}

std::string file_kind(const testing::TestParamInfo<std::size_t>& file) {
  constexpr std::array kinds{"Safetensors", "Npy", "NpzStored", "NpzDeflated"};
  return kinds[file.param];
}

INSTANTIATE_TEST_SUITE_P(Files, Mutation, testing::Values(0, 1, 2, 3), file_kind);

}  // namespace
}  // namespace kv
