// Families of plain caches: the contract of their options, and how one is made.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

// The contract of a plain cache with these options and wishes: an error if there can be none.
Result<Contract> plain_contract(const PlainOptions& options, const Setup& setup);

// Subjects of a class derived from PlainSubject, or of PlainSubject itself.
template <typename Made>
class PlainFamily final : public Family {
 public:
  // `change`, if any, is what the subject declares otherwise than its options say.
  PlainFamily(std::string name, PlainOptions options, void (*change)(Contract&) = nullptr)
      : name_(std::move(name)), options_(options), change_(change) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    auto contract = plain_contract(options_, setup);
    if (!contract) return contract;
    contract->name = name_;
    if (change_ != nullptr) change_(*contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return again(options_, setup, contract(setup).value(), draws);
  }

  [[nodiscard]] bool uses_draws() const override { return !options_.own_chance; }

  [[nodiscard]] Setup requested() const override {
    return {.layers = 2, .kv_heads = 2, .group = 2, .sinks = 2, .recent = 4, .budget = 10};
  }

 private:
  static std::unique_ptr<PlainSubject> again(const PlainOptions& options,
                                             const Setup& setup,
                                             const Contract& contract,
                                             const DrawsOf& draws) {
    return std::make_unique<Made>(options, setup, contract, draws,
                                  [=] { return again(options, setup, contract, draws); });
  }

  std::string name_;
  PlainOptions options_;
  void (*change_)(Contract&);
};

}  // namespace kv::properties
