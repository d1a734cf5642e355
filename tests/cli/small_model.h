// A fixture for commands that run a model: a small one with random weights, and a text.
#pragma once

#include <algorithm>
#include <string>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::test {

class SmallModelTest : public testing::Test {
 protected:
  // One sentence with the reason, and nothing else.
  static void expect_refused(const Ran& ran, const std::string& reason) {
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.out, testing::IsEmpty());
    EXPECT_THAT(ran.err, testing::HasSubstr(reason));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }

  std::string model_ = small_llama_that_reads("command-model");
  std::string text_ = temporary_file("text.txt", "abc abcab: one<end> two three<end>four, abab.");
};

}  // namespace kv::test
