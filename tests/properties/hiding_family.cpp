#include "kvcheck/tests/properties/hiding_family.h"

#include <utility>

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

class HidingSubject final : public Subject {
 public:
  explicit HidingSubject(std::unique_ptr<Subject> subject) : subject_(std::move(subject)) {}

  Answer<Facts> feed(const Feed& feed) override {
    const Stream unknown_to_all{.kind = StreamKind::ties};
    auto answer = subject_->feed({feed.tokens, unknown_to_all, false});
    if (auto* facts = std::get_if<Facts>(&answer)) return hiding(std::move(*facts));
    return answer;
  }

  Facts look() override { return hiding(subject_->look()); }

  Answer<Done> reset() override { return subject_->reset(); }

  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = subject_->fork();
    if (auto* refused = std::get_if<Refused>(&answer)) return *refused;
    auto copy = std::get<std::unique_ptr<Subject>>(std::move(answer));
    return std::unique_ptr<Subject>(std::make_unique<HidingSubject>(std::move(copy)));
  }

  Answer<Done> truncate(std::int64_t length) override { return subject_->truncate(length); }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    return subject_->reorder(from);
  }

  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override {
    return subject_->shift(begin, delta);
  }

  Answer<std::vector<std::uint8_t>> snapshot() override { return subject_->snapshot(); }

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    return subject_->restore(bytes);
  }

 private:
  std::unique_ptr<Subject> subject_;
};

class HidingFamily final : public Family {
 public:
  explicit HidingFamily(std::unique_ptr<Family> family) : family_(std::move(family)) {}

  [[nodiscard]] std::string name() const override { return family_->name(); }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = family_->contract(setup);
    if (!contract) return contract;
    contract->positions = PositionMode::unreported;
    contract->precision = Precision::f32;
    contract->wants_attention = false;
    contract->claims.erase("score-driven");
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return std::make_unique<HidingSubject>(family_->make(setup, draws));
  }

  [[nodiscard]] bool uses_draws() const override { return family_->uses_draws(); }

  [[nodiscard]] kv::properties::Setup requested() const override { return family_->requested(); }

 private:
  std::unique_ptr<Family> family_;
};

}  // namespace

std::unique_ptr<Family> make_hiding(std::unique_ptr<Family> family) {
  return std::make_unique<HidingFamily>(std::move(family));
}

}  // namespace kv::properties
