#include "kvcheck/base/threads/of_this_thread.h"

#include <atomic>
#include <stdexcept>
#include <thread>

namespace kv {
namespace {

struct Counted {
  Counted() { ++made; }

  ~Counted() { ++destroyed; }

  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int value = 0;
  inline static std::atomic<int> made = 0;
  inline static std::atomic<int> destroyed = 0;
};

// The first is not made.
struct Refuses {
  Refuses() {
    if (++tried == 1) throw std::runtime_error("none");
  }

  inline static int tried = 0;
};

TEST(OfThisThread, EveryThreadHasOneUntilItEnds) {
  for (int thread = 1; thread <= 3; ++thread) {
    std::jthread([&] {
      of_this_thread<Counted>().value += thread;
      EXPECT_EQ(of_this_thread<Counted>().value, thread);
      EXPECT_EQ(Counted::made, thread);
      EXPECT_EQ(Counted::destroyed, thread - 1);
    }).join();
    EXPECT_EQ(Counted::destroyed, thread);
  }
}

TEST(OfThisThread, ObjectsOfTwoTypesAreTwo) {
  struct A {
    int value = 1;
  };

  struct B {
    int value = 2;
  };

  of_this_thread<A>().value = 3;
  EXPECT_EQ(of_this_thread<B>().value, 2);
  EXPECT_EQ(of_this_thread<A>().value, 3);
}

TEST(OfThisThread, AThreadThatCouldMakeNoneMayTryAgain) {
  std::jthread([] {
    EXPECT_THROW(of_this_thread<Refuses>(), std::runtime_error);
    EXPECT_NO_THROW(of_this_thread<Refuses>());
  }).join();
}

}  // namespace
}  // namespace kv
