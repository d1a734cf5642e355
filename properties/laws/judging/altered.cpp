#include <utility>

#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

class MeddledSubject final : public Subject {
 public:
  MeddledSubject(std::unique_ptr<Subject> subject, std::unique_ptr<Meddler> meddler)
      : subject_(std::move(subject)), meddler_(std::move(meddler)) {}

  Answer<Facts> feed(const Feed& feed) override { return meddler_->feed(*subject_, feed); }

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
  std::unique_ptr<Meddler> meddler_;
};

class MeddledFamily final : public Family {
 public:
  MeddledFamily(Family& family, MakeMeddler make) : family_(family), make_(std::move(make)) {}

  [[nodiscard]] std::string name() const override { return family_.name(); }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    return family_.contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<MeddledSubject>(family_.make(setup, draws), make_(setup));
  }

  [[nodiscard]] bool uses_draws() const override { return family_.uses_draws(); }

  [[nodiscard]] Setup wanted() const override { return family_.wanted(); }

  [[nodiscard]] bool takes_sizes() const override { return family_.takes_sizes(); }

  [[nodiscard]] bool in_process() const override { return family_.in_process(); }

 private:
  Family& family_;
  MakeMeddler make_;
};

}  // namespace

std::unique_ptr<Family> meddled(Family& family, MakeMeddler make) {
  return std::make_unique<MeddledFamily>(family, std::move(make));
}

}  // namespace kv::properties
