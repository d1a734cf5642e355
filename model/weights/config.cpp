#include "kvcheck/model/weights/config.h"

#include <array>
#include <cmath>
#include <numbers>

#include "kvcheck/base/text/text.h"

namespace kv::model {
namespace {

struct Size {
  std::string_view name;
  std::size_t value;
};

Error contradiction(std::string_view name, std::size_t value, const std::string& expected) {
  return malformed(std::string(name) + " is " + std::to_string(value) + "; expected " + expected);
}

}  // namespace

Result<void> check_config(const ModelConfig& config) {
  // Far above any model, and low enough that no product of two sizes overflows.
  constexpr std::size_t most = std::size_t{1} << 24;
  const std::array<Size, 8> sizes = {{{"layers", config.layers},
                                      {"width", config.width},
                                      {"heads", config.heads},
                                      {"kv_heads", config.kv_heads},
                                      {"head_dim", config.head_dim},
                                      {"inner", config.inner},
                                      {"vocabulary", config.vocabulary},
                                      {"context", config.context}}};
  for (const Size& size : sizes) {
    if (size.value == 0 || size.value > most) {
      return contradiction(size.name, size.value, "1 to " + std::to_string(most));
    }
  }
  if (config.heads % config.kv_heads != 0) {
    return contradiction("kv_heads", config.kv_heads,
                         "a divisor of the " + std::to_string(config.heads) + " heads");
  }
  // As an f32, to which a double far from 1 rounds to 0 or infinity: all norms would give nonsense.
  if (!(config.epsilon > 0 && config.epsilon <= 1)) {
    return malformed("the epsilon of the norms is " + shortest(double{config.epsilon}) +
                     "; expected a number above 0, at most 1");
  }
  if (config.rope.layout != RopeLayout::none &&
      (config.rope.dims == 0 || config.rope.dims % 2 != 0 || config.rope.dims > config.head_dim)) {
    return contradiction("the number of rotating dimensions", config.rope.dims,
                         "an even number from 2 to the head's " + std::to_string(config.head_dim));
  }
  return {};
}

std::vector<double> rope_frequencies(const ModelConfig& config) {
  if (config.rope.layout == RopeLayout::none) return {};
  const RopeScaling& scaling = config.scaling;
  std::vector<double> frequencies(config.rope.dims / 2);
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double exponent =
        -2.0 * static_cast<double>(pair) / static_cast<double>(config.rope.dims);
    double frequency = std::pow(config.rope.theta, exponent);
    if (scaling.kind == RopeScaling::Kind::linear) frequency /= scaling.factor;
    if (scaling.kind == RopeScaling::Kind::llama3) {
      // Full rotations of the pair within the first context. Pairs with few are stretched by the
      // factor, pairs with many are left as they are, and between the two limits one fades into the
      // other (Llama 3.1's rope_scaling).
      const double rotations = scaling.first_context * frequency / (2 * std::numbers::pi);
      const double fade =
          (rotations - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency);
      const double kept = std::fmin(std::fmax(fade, 0.0), 1.0);
      frequency *= kept + (1 - kept) / scaling.factor;
    }
    frequencies[pair] = frequency;
  }
  return frequencies;
}

}  // namespace kv::model
