// A policy that names no legal victims ends the program, and is named: it may be a user's.
#include <memory>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {
namespace {

// Names the same victims whatever the candidates are.
class Fixed final : public Policy {
 public:
  explicit Fixed(std::vector<std::size_t> victims) : victims_(std::move(victims)) {}

  void evict(const Candidates& /*candidates*/,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    victims = victims_;
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Fixed>(*this);
  }

 private:
  std::vector<std::size_t> victims_;
};

template <std::size_t... victims>
void run_with() {
  PolicyEntry entry = *find_policy("fifo");
  entry.name = "fixed";
  entry.make = [](const Options&) -> std::unique_ptr<Policy> {
    return std::make_unique<Fixed>(std::vector<std::size_t>{victims...});
  };
  Spec spec = parse_spec("fifo:sinks=0,recent=1,budget=4").value();
  spec.policy = &entry;
  UnitCache cache(spec, std::make_unique<CounterDraws>(Rng(1)));
  for (int token = 0; token < 6; ++token) {
    cache.begin_chunk(1);
    cache.next_query();
    cache.end_chunk();
  }
}

TEST(WrongVictimsDeathTest, NameTheirPolicy) {
  run_with<0>();
  EXPECT_DEATH(run_with<>(),
               "policy 'fixed' names victims that are none: found only 0; expected "
               "at least 1 in increasing order, below the 4 candidates");
  EXPECT_DEATH((run_with<2, 1>()), "found 2 and then 1; expected at least 1");
  EXPECT_DEATH((run_with<1, 1>()), "found 1 and then 1; expected at least 1");
  EXPECT_DEATH((run_with<0, 4>()), "found 4; expected at least 1");
}

}  // namespace
}  // namespace kv
