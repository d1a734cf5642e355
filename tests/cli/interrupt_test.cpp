// Several pieces of work that can be interrupted, which begin and end in any order.
#include "kvcheck/cli/options/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace kv::cli {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction now {};

  sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

TEST(InterruptGuard, GivesTheSignalsBackWhateverTheOrderOfEnds) {
  const auto before = handler_of(SIGINT);
  std::optional<InterruptGuard> first(std::in_place);
  std::optional<InterruptGuard> second(std::in_place);
  const auto during = handler_of(SIGINT);
  EXPECT_NE(during, before);
  first.reset();
  EXPECT_EQ(handler_of(SIGINT), during);
  second.reset();
  EXPECT_EQ(handler_of(SIGINT), before);
  EXPECT_EQ(handler_of(SIGTERM), before);
}

TEST(InterruptGuard, ASignalIsRememberedUntilAllWorkHasEnded) {
  forget_interrupt();
  std::optional<InterruptGuard> first(std::in_place);
  std::optional<InterruptGuard> second(std::in_place);
  EXPECT_EQ(std::raise(SIGINT), 0);
  EXPECT_TRUE(interrupted());
  first.reset();
  forget_interrupt();
  EXPECT_TRUE(interrupted());
  second.reset();
  EXPECT_TRUE(interrupted());
  forget_interrupt();
  EXPECT_FALSE(interrupted());
}

}  // namespace
}  // namespace kv::cli
