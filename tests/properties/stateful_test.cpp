// Every policy in our cache against its executable specification, as a stateful model: commands
// append, feed chunks, fork and reset, on any of the branches that there are.
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>

#include "kvcheck/properties/reference/reference_cache.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/stateful_specs.h"

namespace kv::properties {
namespace {

constexpr std::uint64_t seed = 11;

Stream stream() {
  return {.kind = StreamKind::random, .seed = 5};
}

// What the commands change: one specification per branch.
struct Branches {
  Spec spec;
  std::vector<ReferenceCache> models;
  std::vector<Position> lengths;
};

// What they are run against.
struct System {
  std::vector<std::unique_ptr<Subject>> subjects;
};

using Command = rc::state::Command<Branches, System>;

ReferenceCache fresh(const Spec& spec) {
  return {spec, counter_draws(seed)(0)};
}

std::vector<float> mass(const std::vector<Position>& visible, Position query) {
  std::vector<Token> keys;
  for (const Position p : visible) keys.push_back({static_cast<std::int32_t>(p), 0});
  std::vector<float> out(keys.size());
  visible_mass(stream(), {}, {static_cast<std::int32_t>(query), 0}, keys, out);
  return out;
}

TokenInputs inputs(Position token) {
  const InputUnit unit{};
  return token_inputs(stream(), {&unit, 1}, {static_cast<std::int32_t>(token), 0});
}

std::vector<Position> positions(const std::vector<Row>& rows) {
  std::vector<Position> out;
  for (const Row& row : rows) out.push_back(static_cast<Position>(row.value.position));
  return out;
}

std::vector<Position> seen(const UnitFacts& unit, std::size_t query) {
  std::vector<Position> out;
  for (std::size_t row = 0; row < unit.returned.size(); ++row) {
    if (unit.visible[query * unit.mask_width + row] == 0) continue;
    out.push_back(static_cast<Position>(unit.returned[row].value.position));
  }
  return out;
}

// Feeds a chunk to a branch; of one token more often than of several.
class Chunk : public Command {
 public:
  explicit Chunk(const Branches& branches)
      : branch_(*rc::gen::inRange<std::size_t>(0, branches.models.size())),
        tokens_(*rc::gen::element<std::size_t>(1, 1, 1, 2, 3, 5, 9, 17)) {}

  void checkPreconditions(const Branches& branches) const override {
    RC_PRE(branch_ < branches.models.size());
  }

  void apply(Branches& branches) const override {
    (void)branches.models[branch_].feed(tokens_, mass, inputs);
    branches.lengths[branch_] += static_cast<Position>(tokens_);
  }

  void run(const Branches& before, System& system) const override {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < tokens_; ++i) {
      tokens.push_back({static_cast<std::int32_t>(before.lengths[branch_] + i), 0});
    }
    kv::properties::ReferenceCache model = before.models[branch_];
    const auto requested = model.feed(tokens_, mass, inputs);
    const auto facts = std::get<Facts>(system.subjects[branch_]->feed({tokens, stream()}));
    for (std::size_t query = 0; query < tokens_; ++query) {
      RC_ASSERT(seen(facts.units[0], query) == requested[query]);
    }
    RC_ASSERT(positions(facts.units[0].stored) == model.stored());
  }

  void show(std::ostream& out) const override { out << "b" << branch_ << ":f" << tokens_; }

 private:
  std::size_t branch_;
  std::size_t tokens_;
};

class Fork : public Command {
 public:
  explicit Fork(const Branches& branches)
      : branch_(*rc::gen::inRange<std::size_t>(0, branches.models.size())) {}

  void checkPreconditions(const Branches& branches) const override {
    RC_PRE(branch_ < branches.models.size());
    RC_PRE(branches.models.size() < 4U);
  }

  void apply(Branches& branches) const override {
    const kv::properties::ReferenceCache copy = branches.models[branch_];
    branches.models.push_back(copy);
    branches.lengths.push_back(branches.lengths[branch_]);
  }

  void run(const Branches& before, System& system) const override {
    auto copy = system.subjects[branch_]->fork();
    system.subjects.push_back(std::get<std::unique_ptr<Subject>>(std::move(copy)));
    RC_ASSERT(positions(system.subjects.back()->look().units[0].stored) ==
              before.models[branch_].stored());
  }

  void show(std::ostream& out) const override { out << "b" << branch_ << ":k"; }

 private:
  std::size_t branch_;
};

class Reset : public Command {
 public:
  explicit Reset(const Branches& branches)
      : branch_(*rc::gen::inRange<std::size_t>(0, branches.models.size())) {}

  void checkPreconditions(const Branches& branches) const override {
    RC_PRE(branch_ < branches.models.size());
  }

  void apply(Branches& branches) const override {
    branches.models[branch_] = fresh(branches.spec).with({counter_draws(seed)(0)});
    branches.lengths[branch_] = 0;
  }

  void run(const Branches&, System& system) const override {
    RC_ASSERT(std::holds_alternative<Done>(system.subjects[branch_]->reset()));
    RC_ASSERT(system.subjects[branch_]->look().units[0].stored.empty());
  }

  void show(std::ostream& out) const override { out << "b" << branch_ << ":r"; }

 private:
  std::size_t branch_;
};

// Runs commands on a subject of `spec` and on the specification of `model`.
rc::detail::TestResult check(const Spec& spec, const Spec& model, int cases) {
  const auto family = make_spec_family(spec);
  rc::detail::TestParams params;
  params.seed = 1;
  params.maxSuccess = cases;
  params.maxSize = 30;
  return rc::detail::checkTestable(
      [&] {
        Branches branches{model, {}, {0}};
        branches.models.push_back(fresh(model));
        System system;
        system.subjects.push_back(family->make(family->requested(), counter_draws(seed)));
        rc::state::check(branches, system,
                         rc::state::gen::execOneOfWithArgs<Chunk, Chunk, Chunk, Fork, Reset>());
      },
      rc::detail::TestMetadata{}, params);
}

TEST(Stateful, EveryPolicyActsAsItsSpecification) {
  for (const std::string& text : stateful_specs()) {
    const auto spec = parse_spec(text);
    ASSERT_TRUE(spec) << text << ": " << spec.error().message;
    const auto result = check(*spec, *spec, 10);
    rc::detail::SuccessResult success;
    ASSERT_TRUE(result.match(success)) << text << "\n" << result;
    EXPECT_EQ(success.numSuccess, 10) << text;
  }
}

TEST(Stateful, AnotherSpecificationIsDistinguished) {
  const auto spec = parse_spec("h2o:sinks=1,recent=3,budget=8");
  for (const std::string other :
       {"h2o:sinks=1,recent=3,budget=7", "h2o:sinks=0,recent=4,budget=8",
        "tova:sinks=1,recent=3,budget=8", "h2o:normalise=age,sinks=1,recent=3,budget=8",
        "h2o:sinks=1,recent=3,budget=8;timing=trim-then-attend",
        "h2o:sinks=1,recent=3,budget=8;visibility=window"}) {
    const auto result = check(*spec, *parse_spec(other), 50);
    EXPECT_TRUE(result.is<rc::detail::FailureResult>()) << other;
  }
}

// Every option that names a form of its source leaves or shows something else.
TEST(Stateful, FormsOfOnePolicyAreDistinguished) {
  const std::vector<std::vector<std::string>> forms = {
      {"h2o:sinks=1,recent=3,budget=8", "h2o:sinks=1,recent=3,budget=8,form=flexgen",
       "h2o:sinks=1,recent=3,budget=8,form=mask-simulation"},
      {"pages:sinks=1,recent=2,budget=9,page=4",
       "pages:sinks=1,recent=2,budget=9,page=4,first-page=freed",
       "pages:sinks=1,recent=2,budget=9,page=4,first-page=masked"},
      {"keyformer:recent=4,budget=6,step=1", "keyformer:recent=4,budget=6,step=1,end=8"},
      {"keyformer:recent=4,budget=6,step=1,end=8",
       "keyformer:recent=4,budget=6,step=1,end=8,prompt=12"},
      {"lagkv:recent=2,budget=9,lag=2", "lagkv:recent=2,budget=9,lag=2,partitions=ranked",
       "lagkv:recent=2,budget=9,lag=2,partitions=scored"},
      {"expected-attention:recent=2,budget=7", "expected-attention:recent=2,budget=7,future=4",
       "expected-attention:recent=2,budget=7,future=0"},
      {"semantic-blocks:recent=2,budget=9,block=2",
       "semantic-blocks:recent=2,budget=9,block=2,scores=rotated"},
      {"keydiff:recent=2,budget=7", "keydiff:recent=2,budget=7,scores=raw"},
      {"lagkv:recent=2,budget=9,lag=2", "lagkv:recent=2,budget=9,lag=2,scores=raw"},
      {"rkv:recent=2,budget=7,lambda=0.5", "rkv:recent=2,budget=7,lambda=0.5,scores=raw",
       "rkv:recent=2,budget=7,lambda=0.5,importance=middle",
       "rkv:recent=2,budget=7,lambda=0.5,lone=first"}};
  for (const std::vector<std::string>& alike : forms) {
    for (const std::string& one : alike) {
      for (const std::string& other : alike) {
        if (one == other) continue;
        const auto result = check(*parse_spec(one), *parse_spec(other), 50);
        EXPECT_TRUE(result.is<rc::detail::FailureResult>()) << one << " as " << other;
      }
    }
  }
}

}  // namespace
}  // namespace kv::properties
