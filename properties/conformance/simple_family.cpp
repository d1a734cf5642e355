#include <algorithm>
#include <exception>
#include <map>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/cases/requested_sizes.h"
#include "kvcheck/properties/conformance/conformance.h"
#include "kvcheck/properties/heads.h"

namespace kv::properties {
namespace {

struct UnitCache {
  std::unique_ptr<Draws> draws;  // made once for all tokens
  std::unique_ptr<SimpleCache> cache;
};

// Such a cache does not know the places that its rows were made for.
std::vector<Row> rows_of(const std::vector<Token>& tokens) {
  std::vector<Row> rows(tokens.size());
  std::ranges::transform(tokens, rows.begin(), row_of);
  return rows;
}

class SimpleSubject final : public Subject {
 public:
  SimpleSubject(const MakeCache& make, const Setup& setup, const DrawsOf& draws)
      : setup_(setup), draws_(draws) {
    const std::size_t count = Heads{setup}.count();
    for (std::uint32_t unit = 0; unit < count; ++unit) {
      UnitCache made{draws(unit), nullptr};
      made.cache = make(setup, *made.draws);
      units_.push_back(std::move(made));
    }
  }

  Answer<Facts> feed(const Feed& feed) override {
    Facts facts;
    facts.units.resize(units_.size());
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      const auto seen = units_[unit].cache->append(feed.tokens);
      if (seen.size() != feed.tokens.size()) {
        throw SubjectFailed("append gave " + std::to_string(seen.size()) + " lists for " +
                            std::to_string(feed.tokens.size()) + " tokens");
      }
      facts.units[unit] = reported(unit);
      mask(seen, facts.units[unit]);
    }
    return facts;
  }

  Facts look() override {
    Facts facts;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) facts.units.push_back(reported(unit));
    return facts;
  }

  Answer<Done> reset() override {
    return every([](SimpleCache& cache) { return cache.reset(); }, "reset");
  }

  Answer<Done> truncate(std::int64_t length) override {
    return every([&](SimpleCache& cache) { return cache.truncate(length); }, "this truncate");
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    auto copy = std::make_unique<SimpleSubject>(*this, Copy{});
    if (copy->units_.size() != units_.size()) return Refused{"fork is not offered"};
    return copy;
  }

  struct Copy {};

  // Has fewer units if one of them cannot be copied.
  SimpleSubject(const SimpleSubject& other, Copy /*tag*/)
      : setup_(other.setup_), draws_(other.draws_) {
    for (std::uint32_t unit = 0; unit < other.units_.size(); ++unit) {
      auto cache = other.units_[unit].cache->fork();
      if (cache) units_.push_back({draws_(unit), std::move(cache)});
    }
  }

 private:
  [[nodiscard]] UnitFacts reported(std::size_t unit) const {
    UnitFacts facts;
    facts.stored = rows_of(units_[unit].cache->kept());
    facts.reported = units_[unit].cache->size();
    return facts;
  }

  // The rows returned are all that some query sees, in stream order.
  static void mask(const std::vector<std::vector<Token>>& seen, UnitFacts& unit) {
    unit.listed = true;
    std::map<Token, std::size_t> column;
    for (const auto& tokens : seen) {
      for (const Token token : tokens) column[token] = 0;
    }
    std::vector<Token> returned;
    for (auto& [token, index] : column) {
      index = returned.size();
      returned.push_back(token);
    }
    unit.returned = rows_of(returned);
    unit.mask_width = returned.size();
    unit.visible.assign(seen.size() * returned.size(), 0);
    for (std::size_t query = 0; query < seen.size(); ++query) {
      for (const Token token : seen[query]) {
        unit.visible[query * returned.size() + column[token]] = 1;
      }
    }
  }

  template <typename Call>
  Answer<Done> every(const Call& call, const std::string& name) {
    std::size_t done = 0;
    for (UnitCache& unit : units_) done += call(*unit.cache) ? 1U : 0U;
    if (done == units_.size()) return Done{};
    if (done > 0) throw SubjectFailed("some units did " + name + ", others refused it");
    return Refused{name + " is not offered"};
  }

  Setup setup_;
  DrawsOf draws_;
  std::vector<UnitCache> units_;
};

class SimpleFamily final : public Family {
 public:
  SimpleFamily(std::string name, MakeCache make, Declare declare)
      : name_(std::move(name)), make_(std::move(make)), declare_(std::move(declare)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    try {
      const auto draws = counter_draws(0)(0);
      static_cast<void>(make_(setup, *draws));
    } catch (const std::exception& refused) {
      return Error{Error::Kind::unsupported,
                   name_ + " refuses these sizes: " + std::string(refused.what())};
    }
    Contract contract = strictest(name_, setup);
    contract.positions = PositionMode::unreported;
    if (declare_) declare_(contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return std::make_unique<SimpleSubject>(make_, setup, draws);
  }

  [[nodiscard]] bool uses_draws() const override { return true; }

  [[nodiscard]] Setup requested() const override { return first_accepted(*this); }

 private:
  std::string name_;
  MakeCache make_;
  Declare declare_;
};

}  // namespace

std::unique_ptr<Family> make_simple_family(std::string name, MakeCache make, Declare declare) {
  return std::make_unique<SimpleFamily>(std::move(name), std::move(make), std::move(declare));
}

}  // namespace kv::properties
