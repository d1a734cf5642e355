#include "kvcheck/tests/properties/faulty_family.h"

#include <csignal>
#include <utility>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

class FaultySubject final : public Subject {
 public:
  FaultySubject(std::unique_ptr<Subject> inner, Fault fault)
      : inner_(std::move(inner)), fault_(fault) {}

  Answer<Facts> feed(const Feed& feed) override {
    if (fault_ == Fault::dies && feed.tokens.size() > 3) std::raise(SIGSEGV);
    const bool seventh = !feed.tokens.empty() && feed.tokens.back().position >= 6;
    if (fault_ == Fault::throws && seventh) throw std::runtime_error("the seventh token");
    while (fault_ == Fault::hangs && seventh) waits_ = waits_ + 1;
    auto answer = inner_->feed(feed);
    if (auto* facts = std::get_if<Facts>(&answer)) spoil(*facts, feed.tokens.size());
    return answer;
  }

  Facts look() override { return inner_->look(); }

 private:
  void spoil(Facts& facts, std::size_t queries) const {
    if (fault_ == Fault::misshapen) facts.units.pop_back();
    if (fault_ != Fault::blind) return;
    for (UnitFacts& unit : facts.units) {
      if (unit.returned.size() < 4) continue;
      for (std::size_t i = 0; i < queries; ++i) unit.visible[i * unit.mask_width] = 0;
    }
  }

  std::unique_ptr<Subject> inner_;
  Fault fault_;
  volatile int waits_ = 0;
};

class FaultyFamily final : public Family {
 public:
  explicit FaultyFamily(Fault fault)
      : inner_(make_spec_family(*parse_spec("streaming:sinks=1,recent=3;visibility=window"))),
        fault_(fault) {}

  [[nodiscard]] std::string name() const override { return "faulty"; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    return inner_->contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<FaultySubject>(inner_->make(setup, draws), fault_);
  }

  [[nodiscard]] Setup requested() const override { return inner_->requested(); }

 private:
  std::unique_ptr<Family> inner_;
  Fault fault_;
};

}  // namespace

std::unique_ptr<Family> make_faulty(Fault fault) {
  return std::make_unique<FaultyFamily>(fault);
}

}  // namespace kv::properties
