#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::small_fake;

std::string caption_of(int policies) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {"dense"};
  for (int recent = 1; recent <= policies; ++recent) {
    fake.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  fake.budgets = {64};
  const ReplayResult result = fake_replay(fake);
  return attention_figure(sweep_of(result)).caption;
}

TEST(AttentionFigure, SaysHowManyOfHowManyPoliciesItDraws) {
  EXPECT_THAT(caption_of(25), HasSubstr("Drawn: the first 11 of 25 policies that evict."));
  EXPECT_THAT(caption_of(12), HasSubstr("Drawn: the first 11 of 12 policies that evict."));
  EXPECT_THAT(caption_of(11), Not(HasSubstr("Drawn")));
  EXPECT_THAT(caption_of(2), Not(HasSubstr("Drawn")));
}

}  // namespace
}  // namespace kv::reports
