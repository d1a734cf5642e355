#include "kvcheck/properties/subjects/spec_subject.h"

#include <utility>

#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {
namespace {

class SpecSubject final : public Subject {
 public:
  SpecSubject(const Spec& spec, const Setup& setup, DrawsOf draws)
      : caches_(spec, setup, std::move(draws)) {}

  explicit SpecSubject(const SpecCaches& caches) : caches_(caches.fork()) {}

  Answer<Facts> feed(const Feed& feed) override {
    const std::size_t seen = caches_.seen();
    for (std::size_t i = 0; i < feed.tokens.size(); ++i) {
      if (feed.tokens[i].position != static_cast<std::int32_t>(seen + i)) {
        return Refused{"tokens are to follow each other; the next is " + std::to_string(seen)};
      }
    }
    if (feed.tokens.empty()) return caches_.look();
    if (past_.size() == remembered) past_.erase(past_.begin());
    past_.push_back(caches_.fork());
    return caches_.feed(feed);
  }

  Facts look() override { return caches_.look(); }

  Answer<Done> reset() override {
    caches_.clear();
    past_.clear();
    return Done{};
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    return std::unique_ptr<Subject>(std::make_unique<SpecSubject>(caches_));
  }

  // Exact only where a call began, and remembered for the last few calls.
  Answer<Done> truncate(std::int64_t length) override {
    const auto requested = static_cast<std::size_t>(length);
    if (length < 0 || requested > caches_.seen()) {
      return Refused{std::to_string(length) + " tokens were never fed"};
    }
    if (requested == caches_.seen()) return Done{};
    for (std::size_t i = past_.size(); i-- > 0;) {
      if (past_[i].seen() != requested) continue;
      caches_ = past_[i].fork();
      past_.erase(past_.begin() + static_cast<std::ptrdiff_t>(i), past_.end());
      return Done{};
    }
    return Refused{"it can go back to where one of the last " + std::to_string(remembered) +
                   " calls began"};
  }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    if (!caches_.reorder(from)) return Refused{"each of the sequences is to be named a sequence"};
    past_.clear();
    return Done{};
  }

  Answer<Done> shift(std::int64_t, std::int64_t) override {
    return Refused{"positions are derived from the residents"};
  }

  Answer<std::vector<std::uint8_t>> snapshot() override { return caches_.save(); }

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    if (!caches_.load(bytes)) return Refused{"these bytes are not a snapshot of such a cache"};
    past_.clear();
    return Done{};
  }

 private:
  static constexpr std::size_t remembered = 3;

  SpecCaches caches_;
  std::vector<SpecCaches> past_;  // as it was before each of the last calls
};

class SpecFamily final : public Family {
 public:
  explicit SpecFamily(Spec spec) : spec_(std::move(spec)) {}

  [[nodiscard]] std::string name() const override { return spec_.label(); }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    const auto spec = spec_for(spec_, setup);
    if (!spec) return spec.error();
    return contract_of(*spec, {setup.layers, setup.kv_heads, setup.group});
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<SpecSubject>(spec_for(spec_, setup).value(), setup, draws);
  }

  [[nodiscard]] bool uses_draws() const override { return true; }

  [[nodiscard]] Setup requested() const override {
    Setup setup{.sinks = spec_.sinks, .recent = spec_.recent, .budget = spec_.budget};
    if (spec_.selects()) {
      setup.recent = spec_.top_pages.page;
      // So many pages are enough to choose among, and streams stay of a length that is tried.
      setup.budget = std::min(spec_.top_pages.pages(), 4U) * spec_.top_pages.page;
      setup.layers = std::min(spec_.top_pages.dense_layers, 7U) + 1;
      setup.group = 2;
    }
    if (spec_.phases.ratio > 0) setup.budget = spec_.sinks + spec_.recent + 4;
    if (spec_.unit == Unit::head) setup.group = 2;
    if (spec_.unit == Unit::layer || spec_.unit == Unit::model) setup.kv_heads = 2;
    if (spec_.unit == Unit::model) setup.layers = 2;
    if (spec_.budgets.law == Budgets::Law::pyramid) setup.layers = 3;
    if (spec_.budgets.shared()) setup.kv_heads = 3;
    for (const KvHead& named : spec_.budgets.retrieval) {
      setup.layers = std::max(setup.layers, named.layer + 1);
      setup.kv_heads = std::max(setup.kv_heads, named.head + 2);  // with one that is not named
    }
    return setup;
  }

 private:
  Spec spec_;
};

}  // namespace

std::unique_ptr<Family> make_spec_family(const Spec& spec) {
  return std::make_unique<SpecFamily>(spec);
}

}  // namespace kv::properties
