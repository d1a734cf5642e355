#include "kvcheck/tests/properties/veiled_family.h"

#include <utility>

namespace kv::test {
namespace {

void veil(std::vector<Row>& rows) {
  for (Row& row : rows) {
    row = {.value = row.value,
           .key = row.value,
           .value_place = place_not_told,
           .key_place = place_not_told};
  }
}

Facts veiled(Facts facts) {
  for (UnitFacts& unit : facts.units) {
    veil(unit.returned);
    veil(unit.stored);
    unit.query_positions.clear();
    unit.key_positions.clear();
    unit.weights.clear();
    unit.reported.reset();
    unit.moved.reset();
    unit.bytes.reset();
  }
  return facts;
}

class VeiledSubject final : public Subject {
 public:
  explicit VeiledSubject(std::unique_ptr<Subject> subject) : subject_(std::move(subject)) {}

  Answer<Facts> feed(const Feed& feed) override {
    const Stream nobody_knows{.kind = StreamKind::ties};
    auto answer = subject_->feed({feed.tokens, nobody_knows, false});
    if (auto* facts = std::get_if<Facts>(&answer)) return veiled(std::move(*facts));
    return answer;
  }

  Facts look() override { return veiled(subject_->look()); }

  Answer<Done> reset() override { return subject_->reset(); }

  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = subject_->fork();
    if (auto* refused = std::get_if<Refused>(&answer)) return *refused;
    auto copy = std::get<std::unique_ptr<Subject>>(std::move(answer));
    return std::unique_ptr<Subject>(std::make_unique<VeiledSubject>(std::move(copy)));
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

class VeiledFamily final : public Family {
 public:
  explicit VeiledFamily(std::unique_ptr<Family> family) : family_(std::move(family)) {}

  [[nodiscard]] std::string name() const override { return family_->name(); }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = family_->contract(setup);
    if (!contract) return contract;
    contract->positions = PositionMode::untold;
    contract->precision = Precision::f32;
    contract->wants_attention = false;
    contract->claims.erase("score-driven");
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return std::make_unique<VeiledSubject>(family_->make(setup, draws));
  }

  [[nodiscard]] bool uses_draws() const override { return family_->uses_draws(); }

  [[nodiscard]] kv::properties::Setup wanted() const override { return family_->wanted(); }

 private:
  std::unique_ptr<Family> family_;
};

}  // namespace

std::unique_ptr<Family> make_veiled(std::unique_ptr<Family> family) {
  return std::make_unique<VeiledFamily>(std::move(family));
}

}  // namespace kv::test
