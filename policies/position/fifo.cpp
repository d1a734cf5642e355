#include "kvcheck/policies/position/fifo.h"

#include <array>
#include <string_view>

#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Fifo final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Fifo>(*this);
  }

 protected:
  // Candidates are in stream order, so the first is the oldest.
  std::size_t select(const Candidates&, Draws&) override { return 0; }
};

constexpr auto claims = std::array<std::string_view, 4>{"constant-size", "chunk-invariant",
                                                        "deterministic", "admits-newcomers"};

}  // namespace

std::unique_ptr<Policy> make_fifo() {
  return std::make_unique<Fifo>();
}

PolicyEntry fifo_policy() {
  return {.name = "fifo",
          .summary = "Evicts the oldest token of the middle: first in, first out.",
          .protection = {.sinks = 4},
          .parameters = {},
          .claims = claims,
          .source =
              "the plain queue: Mattson, Gecsei, Slutz and Traiger, \"Evaluation techniques "
              "for storage hierarchies\", IBM Systems Journal 9(2), 1970",
          .differs =
              "nothing; it keeps the same tokens as streaming whose recent window includes the "
              "middle",
          .cost = "O(1) time a token; no state",
          .make = [](const Options&) { return make_fifo(); }};
}

}  // namespace kv
