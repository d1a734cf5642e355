// Families of tagged caches: the contract of their options, and how one is made.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/tagged/tagged_cache.h"

namespace kv::properties {

// The contract of a tagged cache with these options and wishes: an error if there can be none.
Result<Contract> tagged_contract(const TaggedOptions& options, const Setup& setup);

// What the specification does in a cache of that contract: the same residents.
Spec tagged_spec(const TaggedOptions& options, const Contract& contract);

// Subjects of a class derived from TaggedCache, or of TaggedCache itself.
template <typename Made>
class TaggedFamily final : public Family {
 public:
  // `change`, if any, is what the subject declares otherwise than its options say.
  TaggedFamily(std::string name, TaggedOptions options, void (*change)(Contract&) = nullptr)
      : name_(std::move(name)), options_(options), change_(change) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    auto contract = tagged_contract(options_, setup);
    if (!contract) return contract;
    contract->name = name_;
    if (change_ != nullptr) change_(*contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    const Spec spec = tagged_spec(options_, tagged_contract(options_, setup).value());
    return fresh({options_, setup, contract(setup).value(), spec, draws});
  }

  [[nodiscard]] bool uses_draws() const override { return !options_.own_chance; }

  [[nodiscard]] Setup requested() const override {
    return {.layers = 2, .kv_heads = 2, .group = 2, .sinks = 2, .recent = 4, .budget = 10};
  }

 private:
  static std::unique_ptr<TaggedCache> fresh(const TaggedParts& parts) {
    auto made = std::make_unique<Made>();
    made->open(parts, [=] { return fresh(parts); });
    return made;
  }

  std::string name_;
  TaggedOptions options_;
  void (*change_)(Contract&);
};

}  // namespace kv::properties
