#include "kvcheck/policies/sampling/reservoir_as_printed.h"

#include <array>
#include <numeric>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class ReservoirAsPrinted final : public Policy {
 public:
  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void evict(const Candidates& candidates,
             Draws& draws,
             std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    const std::size_t k = candidates.capacity;
    KV_CHECK(k >= 1 && k < n);
    if (n == k + 1) {
      // With one newcomer, slot j still holds candidate j, and j = k is the newcomer itself. The
      // draw is
      // the one of the loop below, without its vectors.
      victims.push_back(draws.below(n, candidates.positions[k], 0));
      return;
    }
    std::vector<std::size_t> sample(k);
    std::iota(sample.begin(), sample.end(), std::size_t{0});
    for (std::size_t i = k; i < n; ++i) {
      const std::uint64_t j = draws.below(i + 1, candidates.positions[i], 0);
      if (j < k) sample[j] = i;
    }
    append_others(sample, n, victims);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirAsPrinted>(*this);
  }

 private:
  // All indices below n that are not in the sample, in order.
  static void append_others(const std::vector<std::size_t>& sample,
                            std::size_t n,
                            std::vector<std::size_t>& others) {
    std::vector<bool> sampled(n);
    for (const std::size_t i : sample) sampled[i] = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (!sampled[i]) others.push_back(i);
    }
  }
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "uniform"};

}  // namespace

std::unique_ptr<Policy> make_reservoir_as_printed() {
  return std::make_unique<ReservoirAsPrinted>();
}

PolicyEntry reservoir_as_printed_policy() {
  return {.name = "reservoir-as-printed",
          .summary =
              "Resamples the cache at every trim, as its paper's listing does; the sample is not "
              "uniform.",
          .protection = {.sinks = 4},
          .parameters = {},
          .claims = claims,
          .source =
              "Pan, Weng, Huang, Pan and Zhao, \"An Experiment of Implementing Reservoir Sampling "
              "to StreamingLLM\", figures 2 and 3",
          .differs =
              "It is kept because it is wrong: like its paper it claims to be uniform, and it is "
              "not. Token by token, survival is (k/(k+1))^age, and it is different for every chunk "
              "size. The mistakes of figure 3 in cutting tensors are left out.",
          .cost = "O(k + m) time and m draws for a trim of m tokens; no state",
          .make = [](const Options&) { return make_reservoir_as_printed(); }};
}

}  // namespace kv
