// Subjects and families that pass every call on to another. Derive from them to change some calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/properties/family.h"

namespace kv::properties {

// A fork of it is a fork of the other, without what the derived class changes.
class ForwardingSubject : public Subject {
 public:
  explicit ForwardingSubject(std::unique_ptr<Subject> to) : to_(std::move(to)) {}

  Answer<Facts> feed(const Feed& feed) override { return to_->feed(feed); }

  Facts look() override { return to_->look(); }

  Answer<Done> reset() override { return to_->reset(); }

  Answer<std::unique_ptr<Subject>> fork() override { return to_->fork(); }

  Answer<Done> truncate(std::int64_t length) override { return to_->truncate(length); }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override { return to_->reorder(from); }

  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override {
    return to_->shift(begin, delta);
  }

  Answer<std::vector<std::uint8_t>> snapshot() override { return to_->snapshot(); }

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override { return to_->restore(bytes); }

 protected:
  [[nodiscard]] Subject& to() { return *to_; }

 private:
  std::unique_ptr<Subject> to_;
};

// Cases run call by call, since the other family would run a whole one past the derived class.
class ForwardingFamily : public Family {
 public:
  // Does not own `to`.
  explicit ForwardingFamily(Family& to) : to_(to) {}

  [[nodiscard]] std::string name() const override { return to_.name(); }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    return to_.contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return to_.make(setup, draws);
  }

  [[nodiscard]] bool uses_draws() const override { return to_.uses_draws(); }

  [[nodiscard]] Setup requested() const override { return to_.requested(); }

  [[nodiscard]] bool takes_sizes() const override { return to_.takes_sizes(); }

  [[nodiscard]] bool in_process() const override { return to_.in_process(); }

 private:
  Family& to_;
};

}  // namespace kv::properties
