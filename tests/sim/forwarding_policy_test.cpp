// A policy that wraps another and forwards everything is the policy that it wraps: all that a cache
// asks of a policy goes through the interface of Policy.
#include <memory>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

class ForwardingPolicy final : public Policy {
 public:
  explicit ForwardingPolicy(std::unique_ptr<Policy> wrapped) : wrapped_(std::move(wrapped)) {}

  [[nodiscard]] Needs needs() const override { return wrapped_->needs(); }

  [[nodiscard]] Leaving leaving() const override { return wrapped_->leaving(); }

  [[nodiscard]] std::uint64_t masked_below(std::size_t sinks) const override {
    return wrapped_->masked_below(sinks);
  }

  void set_layer(const LayerOf& layer) override { wrapped_->set_layer(layer); }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    wrapped_->rotate_by(rotation, at_ranks);
  }

  void observe(const Observation& observation) override { wrapped_->observe(observation); }

  void evict(const Candidates& candidates,
             Draws& draws,
             std::vector<std::size_t>& victims) override {
    wrapped_->evict(candidates, draws, victims);
  }

  void forget(std::span<const std::size_t> ranks) override { wrapped_->forget(ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ForwardingPolicy>(wrapped_->clone());
  }

  void save(ByteWriter& writer) const override { wrapped_->save(writer); }

  void load(ByteReader& reader) override { wrapped_->load(reader); }

  [[nodiscard]] bool scores_compare() const override { return wrapped_->scores_compare(); }

  [[nodiscard]] std::span<const double> scores(const PooledCandidates& candidates) override {
    return wrapped_->scores(candidates);
  }

 private:
  std::unique_ptr<Policy> wrapped_;
};

// The policy's own entry, but for the maker. A maker is a plain function, so the wrapped entry is
// found through a static.
const PolicyEntry& forwarding(const PolicyEntry& entry) {
  static const PolicyEntry* wrapped;
  static PolicyEntry wrapper;
  wrapped = &entry;
  wrapper = entry;
  wrapper.make = [](const Options& options) -> std::unique_ptr<Policy> {
    return std::make_unique<ForwardingPolicy>(wrapped->make(options));
  };
  return wrapper;
}

CellResult replayed(const Spec& spec) {
  const Trace trace = random_qkv_trace({.tokens = 96, .layers = 3});
  const std::vector<Cell> cells = {{spec, 1}};
  return replay(trace, cells, {}).value().cells.front();
}

std::vector<std::vector<Position>> residencies(const CellResult& result) {
  std::vector<std::vector<Position>> evicted_at;
  for (const Residency& unit : result.residency) evicted_at.push_back(unit.evicted_at);
  return evicted_at;
}

void expect_same_when_wrapped(const std::string& text) {
  const Spec spec = parse_spec(text).value();
  Spec wrapped = spec;
  wrapped.policy = &forwarding(*spec.policy);
  const CellResult own = replayed(spec);
  const CellResult through = replayed(wrapped);
  EXPECT_EQ(residencies(own), residencies(through)) << text;
  EXPECT_EQ(own.kept, through.kept) << text;
  for (std::size_t i = 0; i < own.units.size(); ++i) {
    EXPECT_EQ(own.units[i].stored_mean, through.units[i].stored_mean) << text;
  }
}

TEST(AForwardingPolicy, MasksAsTheOneThatItWraps) {
  expect_same_when_wrapped("pages:sinks=1,recent=2,budget=9,page=4,first-page=masked");
  expect_same_when_wrapped("h2o:sinks=1,recent=2,budget=9,form=mask-simulation");
}

TEST(AForwardingPolicy, RotatesAsTheOneThatItWraps) {
  expect_same_when_wrapped("expected-attention:sinks=1,recent=4,budget=16");
  expect_same_when_wrapped("expected-attention:sinks=1,recent=4,budget=16;positions=in-cache");
  expect_same_when_wrapped(
      "semantic-blocks:sinks=1,recent=4,budget=24,block=4,scores=rotated,likeness=dot");
}

TEST(AForwardingPolicy, DecidesByItsLayerAsTheOneThatItWraps) {
  expect_same_when_wrapped("ladder:sinks=1,recent=4,budget=24,keep=2,drop=2");
}

TEST(AForwardingPolicy, SharesABudgetAsTheOneThatItWraps) {
  expect_same_when_wrapped("tova:sinks=1,recent=4,budget=16;budgets=adaptive:0.2");
}

// The policies above decide differently where the ability is lost, or the tests would show nothing.
TEST(AForwardingPolicy, WouldBeFoundOutByTheseSpecs) {
  const Spec spec = parse_spec("ladder:sinks=1,recent=4,budget=24,keep=2,drop=2").value();
  const CellResult result = replayed(spec);
  EXPECT_NE(residencies(result).front(), residencies(result).back());
  const auto future = [](const std::string& number) {
    return residencies(replayed(
        parse_spec("expected-attention:sinks=1,recent=4,budget=16,future=" + number).value()));
  };
  EXPECT_NE(future("512"), future("0"));
}

}  // namespace
}  // namespace kv
