#include "kvcheck/tests/properties/faulty_family.h"

#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

class FaultySubject final : public Subject {
 public:
  FaultySubject(std::unique_ptr<Subject> inner, Fault fault, pid_t parent)
      : inner_(std::move(inner)), fault_(fault), parent_(parent) {}

  Answer<Facts> feed(const Feed& feed) override {
    if (fault_ == Fault::dies && feed.tokens.size() > 3) std::raise(SIGSEGV);
    const bool seventh = !feed.tokens.empty() && feed.tokens.back().position >= 6;
    if (fault_ == Fault::throws && seventh) throw std::runtime_error("the seventh token");
    while (fault_ == Fault::hangs && seventh) waits_ = waits_ + 1;
    if (fault_ == Fault::corrupts && seventh) write_past();
    // Four times what a child may have, which is nowhere near what an address space holds.
    while (fault_ == Fault::allocates && seventh && hoard_.size() < 64) {
      hoard_.push_back(std::make_unique_for_overwrite<char[]>(1U << 28U));
    }
    if (fault_ == Fault::apart && ::getpid() == parent_) std::raise(SIGSEGV);
    auto answer = inner_->feed(feed);
    if (auto* facts = std::get_if<Facts>(&answer)) spoil(*facts, feed.tokens.size());
    return answer;
  }

  Facts look() override { return inner_->look(); }

 private:
  void spoil(Facts& facts, std::size_t queries) const {
    if (fault_ == Fault::misshapen) facts.units.pop_back();
    if (fault_ != Fault::blind && fault_ != Fault::apart) return;
    for (UnitFacts& unit : facts.units) {
      if (unit.returned.size() < 4) continue;
      for (std::size_t i = 0; i < queries; ++i) unit.visible[i * unit.mask_width] = 0;
    }
  }

  static void write_past() {
    volatile std::size_t size = 4096;  // so that no compiler sees what is wrong here
    std::vector<char> row(size);
    volatile char* const end = row.data() + size;
    for (int i = 0; i < 32; ++i) end[i] = 0x55;
  }

  std::unique_ptr<Subject> inner_;
  Fault fault_;
  pid_t parent_;
  volatile int waits_ = 0;
  std::vector<std::unique_ptr<char[]>> hoard_;
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
    return std::make_unique<FaultySubject>(inner_->make(setup, draws), fault_, parent_);
  }

  [[nodiscard]] Setup requested() const override { return inner_->requested(); }

 private:
  std::unique_ptr<Family> inner_;
  Fault fault_;
  pid_t parent_ = ::getpid();
};

}  // namespace

std::unique_ptr<Family> make_faulty(Fault fault) {
  return std::make_unique<FaultyFamily>(fault);
}

}  // namespace kv::properties
