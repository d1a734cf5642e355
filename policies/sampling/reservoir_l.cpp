#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/reservoir.h"

namespace kv {
namespace {

// ln(1 - e^x) for x < 0. Near 0, 1 - e^x cancels and expm1 keeps its digits; far below, e^x is tiny
// and log1p keeps them.
double log_of_one_minus_exp(double x) {
  return x > -std::numbers::ln2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

// W is the k-th smallest of the M keys that Algorithm L implicitly draws. The next token to enter
// is the next whose key is below W, after a geometric number of refusals. W is stored as its
// logarithm: after a long stream it is too small for 1 - W to differ from 1.
class ReservoirL final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirL>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(log_w_);
    writer.put(next_);
  }

  void load(ByteReader& reader) override {
    log_w_ = reader.get<double>();
    next_ = reader.get<std::uint64_t>();
  }

 protected:
  // The index of a draw is fixed by its purpose, so that draws for one purpose never shift others.
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    const Position newcomer = candidates.positions.back();
    const std::size_t k = candidates.capacity;
    if (next_ == 0) advance(k, k, newcomer, draws, 0);
    if (candidates.entered < next_) return k;
    KV_CHECK(candidates.entered == next_);
    const std::size_t victim = draws.below(k, newcomer, 4);
    advance(candidates.entered, k, newcomer, draws, 2);
    return victim;
  }

 private:
  // W <- W * u^(1/k), then skips floor(ln u' / ln(1 - W)) tokens after the `entered`-th.
  void advance(
      std::uint64_t entered, std::size_t k, Position newcomer, Draws& draws, std::uint32_t index) {
    log_w_ += std::log(draws.uniform(newcomer, index)) / static_cast<double>(k);
    const double skip =
        std::floor(std::log(draws.uniform(newcomer, index + 1)) / log_of_one_minus_exp(log_w_));
    // Beyond 2^62 no stream has that token, and the conversion to an integer would be undefined.
    next_ = skip < 0x1p62 ? entered + static_cast<std::uint64_t>(skip) + 1
                          : std::numeric_limits<std::uint64_t>::max();
  }

  double log_w_ = 0;
  std::uint64_t next_ = 0;  // which token to enter the middle is kept next; 0 before the first draw
};

}  // namespace

std::unique_ptr<Policy> make_reservoir_l() {
  return std::make_unique<ReservoirL>();
}

}  // namespace kv
