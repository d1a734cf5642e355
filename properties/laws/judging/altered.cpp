#include <utility>

#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

class AlteredSubject final : public Subject {
 public:
  AlteredSubject(std::unique_ptr<Subject> subject, std::unique_ptr<Alteration> alteration)
      : subject_(std::move(subject)), alteration_(std::move(alteration)) {}

  Answer<Facts> feed(const Feed& feed) override { return alteration_->feed(*subject_, feed); }

  Facts look() override { return subject_->look(); }

  Answer<Done> reset() override { return subject_->reset(); }

  Answer<std::unique_ptr<Subject>> fork() override { return subject_->fork(); }

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
  std::unique_ptr<Alteration> alteration_;
};

class AlteredFamily final : public Family {
 public:
  AlteredFamily(Family& family, MakeAlteration make) : family_(family), make_(std::move(make)) {}

  [[nodiscard]] std::string name() const override { return family_.name(); }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    return family_.contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<AlteredSubject>(family_.make(setup, draws), make_(setup));
  }

  [[nodiscard]] bool uses_draws() const override { return family_.uses_draws(); }

  [[nodiscard]] Setup requested() const override { return family_.requested(); }

  [[nodiscard]] bool takes_sizes() const override { return family_.takes_sizes(); }

  [[nodiscard]] bool in_process() const override { return family_.in_process(); }

 private:
  Family& family_;
  MakeAlteration make_;
};

}  // namespace

std::unique_ptr<Family> altered(Family& family, MakeAlteration make) {
  return std::make_unique<AlteredFamily>(family, std::move(make));
}

}  // namespace kv::properties
