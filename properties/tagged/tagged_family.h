// Families of tagged caches: the contract of their options, and how one is made.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/tagged/tagged_cache.h"

namespace kv::properties {

// What the specification does in a tagged cache with these options and requested sizes: an error if
// there can be none.
Result<std::shared_ptr<const Spec>> tagged_spec(const TaggedOptions& options, const Setup& setup);

// The contract of such a cache: that of the spec, and what its storage adds.
Contract tagged_contract(const TaggedOptions& options, const Spec& spec, const Setup& setup);

// Subjects of a class derived from TaggedCache, or of TaggedCache itself.
template <typename Made>
class TaggedFamily final : public Family {
 public:
  // `change`, if any, is what the subject declares otherwise than its options say.
  TaggedFamily(std::string name, TaggedOptions options, void (*change)(Contract&) = nullptr)
      : name_(std::move(name)), options_(options), change_(change) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    const auto spec = tagged_spec(options_, setup);
    if (!spec) return spec.error();
    Contract contract = tagged_contract(options_, **spec, setup);
    contract.name = name_;
    if (change_ != nullptr) change_(contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    const Contract declared = contract(setup).value();
    return fresh({options_, setup, declared, tagged_spec(options_, setup).value(), draws});
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
