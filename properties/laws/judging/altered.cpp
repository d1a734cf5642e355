#include <utility>

#include "kvcheck/properties/forwarding.h"
#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

class AlteredSubject final : public ForwardingSubject {
 public:
  AlteredSubject(std::unique_ptr<Subject> subject, std::unique_ptr<Alteration> alteration)
      : ForwardingSubject(std::move(subject)), alteration_(std::move(alteration)) {}

  Answer<Facts> feed(const Feed& feed) override { return alteration_->feed(to(), feed); }

 private:
  std::unique_ptr<Alteration> alteration_;
};

class AlteredFamily final : public ForwardingFamily {
 public:
  AlteredFamily(Family& family, MakeAlteration make)
      : ForwardingFamily(family), make_(std::move(make)) {}

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<AlteredSubject>(ForwardingFamily::make(setup, draws), make_(setup));
  }

 private:
  MakeAlteration make_;
};

}  // namespace

std::unique_ptr<Family> altered(Family& family, MakeAlteration make) {
  return std::make_unique<AlteredFamily>(family, std::move(make));
}

}  // namespace kv::properties
