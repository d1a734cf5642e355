#include "kvcheck/tests/properties/hiding_family.h"

#include <utility>

#include "kvcheck/properties/forwarding.h"

namespace kv::properties {
namespace {

void hide(std::vector<Row>& rows) {
  for (Row& row : rows) {
    row = {.value = row.value,
           .key = row.value,
           .value_place = place_not_reported,
           .key_place = place_not_reported};
  }
}

Facts hiding(Facts facts) {
  for (UnitFacts& unit : facts.units) {
    hide(unit.returned);
    hide(unit.stored);
    unit.query_positions.clear();
    unit.key_positions.clear();
    unit.weights.clear();
    unit.reported.reset();
    unit.moved.reset();
    unit.bytes.reset();
  }
  return facts;
}

class HidingSubject final : public ForwardingSubject {
 public:
  using ForwardingSubject::ForwardingSubject;

  Answer<Facts> feed(const Feed& feed) override {
    const Stream unknown_to_all{.kind = StreamKind::ties};
    auto answer = to().feed({feed.tokens, unknown_to_all, false});
    if (auto* facts = std::get_if<Facts>(&answer)) return hiding(std::move(*facts));
    return answer;
  }

  Facts look() override { return hiding(to().look()); }

  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = to().fork();
    if (auto* refused = std::get_if<Refused>(&answer)) return *refused;
    auto copy = std::get<std::unique_ptr<Subject>>(std::move(answer));
    return std::unique_ptr<Subject>(std::make_unique<HidingSubject>(std::move(copy)));
  }
};

class HidingFamily final : public ForwardingFamily {
 public:
  explicit HidingFamily(std::unique_ptr<Family> family)
      : ForwardingFamily(*family), family_(std::move(family)) {}

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = ForwardingFamily::contract(setup);
    if (!contract) return contract;
    contract->positions = PositionMode::unreported;
    contract->precision = Precision::f32;
    contract->wants_attention = false;
    contract->claims.erase("score-driven");
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return std::make_unique<HidingSubject>(ForwardingFamily::make(setup, draws));
  }

 private:
  std::unique_ptr<Family> family_;
};

}  // namespace

std::unique_ptr<Family> make_hiding(std::unique_ptr<Family> family) {
  return std::make_unique<HidingFamily>(std::move(family));
}

}  // namespace kv::properties
