// A library with a policy that breaks its interface in the way that its option names, after some
// decisions that are right.
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/policies/library.h"

namespace {

class Bad final : public kv::Policy {
 public:
  explicit Bad(std::string how) : how_(std::move(how)) {
    if (how_ == "make") throw std::runtime_error("no such luck");
  }

  [[nodiscard]] kv::Needs needs() const override { return {.attention = true}; }

  void observe(const kv::Observation& observation) override {
    if (how_ == "observe" && observation.query > 20) throw std::runtime_error("boom\x1b[31m");
  }

  void evict(const kv::Candidates& candidates,
             kv::Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    const bool late = ++decisions_ > 3;
    if (late && how_ == "throw") throw std::runtime_error("boom\x1b[31m");
    if (late && how_ == "number") throw 42;
    if (late && how_ == "none") return;
    victims.push_back(late && how_ == "beyond" ? candidates.positions.size() : 0);
  }

  void forget(std::span<const std::size_t> /*ranks*/) override {
    if (decisions_ > 3 && how_ == "forget") throw std::runtime_error("boom\x1b[31m");
  }

  [[nodiscard]] std::unique_ptr<kv::Policy> clone() const override {
    return std::make_unique<Bad>(*this);
  }

 private:
  std::string how_;
  unsigned decisions_ = 0;
};

constexpr std::array<std::string_view, 8> ways = {"throw",  "number",  "none", "beyond",
                                                  "forget", "observe", "make", "never"};

constexpr std::array<kv::Parameter, 1> parameters = {
    {{.name = "how", .default_value = "never", .choices = ways, .meaning = "what is wrong"}}};

kv::PolicyEntry bad_policy() {
  return {.name = "bad",
          .summary = "Breaks its interface.",
          .protection = {},
          .parameters = parameters,
          .claims = {},
          .source = "a test",
          .differs = "nothing",
          .cost = "nothing",
          .make = [](const kv::Options& options) -> std::unique_ptr<kv::Policy> {
            return std::make_unique<Bad>(options.at("how"));
          }};
}

}  // namespace

KVCHECK_POLICIES(bad_policy())
