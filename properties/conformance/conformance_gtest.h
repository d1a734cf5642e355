// One GoogleTest per law for a registered subject:
//
//   KVCHECK_SUBJECT(MyCache)
//   KVCHECK_TESTS(MyCache)
//
// gives MyCache/Laws.Holds/<law>. A law that does not apply is skipped, and says why.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "kvcheck/properties/conformance/conformance.h"

namespace kv::properties {

// Names of tests are letters, digits and underscores.
inline std::string test_name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline void expect_law(const std::string& subject, const std::string& law) {
  const LawVerdict verdict = check_law(subject, law);
  if (verdict.outcome == LawVerdict::Outcome::not_run) GTEST_SKIP() << verdict.text;
  EXPECT_EQ(verdict.outcome, LawVerdict::Outcome::holds) << verdict.text;
}

}  // namespace kv::properties

#define KVCHECK_TESTS(Subject)                                                                    \
  class Subject##Laws : public ::testing::TestWithParam<std::string> {};                          \
  TEST_P(Subject##Laws, Holds) {                                                                  \
    ::kv::properties::expect_law(#Subject, GetParam());                                           \
  }                                                                                               \
  INSTANTIATE_TEST_SUITE_P(Each, Subject##Laws, ::testing::ValuesIn(::kv::properties::law_ids()), \
                           ::kv::properties::test_name_of);
