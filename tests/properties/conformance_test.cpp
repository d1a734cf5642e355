// The C++ way in: a simple cache, registered, checked law by law and by kvcheck_main.
#include "kvcheck/properties/conformance/conformance.h"

#include <deque>

#include "kvcheck/properties/conformance/conformance_gtest.h"
#include "kvcheck/properties/history.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

// Keeps the newest tokens.
class PlainWindow : public SimpleCache {
 public:
  explicit PlainWindow(const Setup& setup) : budget_(setup.budget) {
    if (setup.sinks > 0) throw std::invalid_argument("there are no sinks");
  }

  std::vector<std::vector<Token>> append(std::span<const Token> tokens) override {
    std::vector<std::vector<Token>> seen;
    for (const Token token : tokens) {
      held_.push_back(token);
      if (held_.size() > budget_) held_.pop_front();
      seen.push_back(kept());
    }
    return seen;
  }

  [[nodiscard]] std::vector<Token> kept() const override { return {held_.begin(), held_.end()}; }

  [[nodiscard]] std::optional<std::size_t> size() const override { return held_.size(); }

  bool reset() override {
    held_.clear();
    return true;
  }

  [[nodiscard]] std::unique_ptr<SimpleCache> fork() const override {
    auto copy = std::make_unique<PlainWindow>(Setup{.budget = budget_});
    copy->held_ = held_;
    return copy;
  }

 protected:
  std::uint32_t budget_;
  std::deque<Token> held_;
};

// The same, and it says that it holds one row more.
class Boasting : public PlainWindow {
 public:
  using PlainWindow::PlainWindow;

  [[nodiscard]] std::optional<std::size_t> size() const override { return held_.size() + 1; }
};

KVCHECK_SUBJECT(PlainWindow)
KVCHECK_SUBJECT(Boasting, [](Contract& contract) { contract.unordered = true; })

TEST(Conformance, RegistersByName) {
  std::vector<std::string> names;
  for (const RegisteredSubject& subject : registered_subjects()) names.push_back(subject.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"Boasting", "PlainWindow"}));
}

TEST(Conformance, ASimpleCacheIsASubject) {
  const auto family = simple_family<PlainWindow>("w");
  EXPECT_FALSE(family->contract({.sinks = 1, .budget = 3}));
  const Case what =
      *parse_case("sinks=0,recent=3,budget=3,kv-heads=2;stream=random;calls=f5,k,b1:f2v1,t1,r,f1");
  const auto history = run_case(*family, what);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->failure, "");
  EXPECT_EQ(history->events[0].facts.units[1].visible.size(), 25U);
  EXPECT_EQ(history->events[2].facts.units[0].stored[0].value, (Token{4, 0}));
  EXPECT_TRUE(history->events[3].refused);
  EXPECT_EQ(history->events[5].facts.units[0].stored.size(), 1U);
}

TEST(Conformance, DeclaresWhatItIsGiven) {
  const auto family = simple_family<Boasting>("b", [](Contract& c) { c.page = 4; });
  EXPECT_EQ(family->contract({.budget = 3})->page, 4U);
}

TEST(Conformance, ALawIsCheckedAlone) {
  EXPECT_EQ(check_law("PlainWindow", "survives").outcome, LawVerdict::Outcome::holds);
  bool caught = false;
  for (const std::string& law : law_ids()) {
    if (!law.starts_with("size")) continue;
    caught |= check_law("Boasting", law).outcome == LawVerdict::Outcome::broken;
  }
  EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace kv::properties
