#include "kvcheck/traces/synthetic/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace kv {
namespace {

// A differing bit lowers the logit by twice this: e^-24 is below the rounding of a float.
constexpr double bit_logit = 12;

// Keys hold their position divided by this. A power of two makes the division exact.
constexpr double position_unit = 32;

constexpr double nothing = -std::numeric_limits<double>::infinity();

unsigned differing_bits(std::uint32_t a, std::uint32_t b) {
  return static_cast<unsigned>(std::popcount(a ^ b));
}

// Rotates the pairs of dimensions that the trace's RopeLayout names.
void rotate(std::array<double, noise_dims>& values, RopeLayout layout, Position position) {
  if (layout == RopeLayout::none) return;
  constexpr std::size_t pairs = noise_dims / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t a = layout == RopeLayout::half ? i : 2 * i;
    const std::size_t b = layout == RopeLayout::half ? i + pairs : 2 * i + 1;
    const double frequency =
        std::pow(Rope{}.theta, -static_cast<double>(2 * i) / static_cast<double>(noise_dims));
    const double cosine = std::cos(position * frequency);
    const double sine = std::sin(position * frequency);
    const double x = values[a];
    const double y = values[b];
    values[a] = x * cosine - y * sine;
    values[b] = x * sine + y * cosine;
  }
}

// The sum of exponentials of one part, relative to its largest logit, so that the sum cannot
// underflow to 0.
struct PartSum {
  double largest = nothing;
  double sum = 0;
  std::size_t keys = 0;

  [[nodiscard]] double log() const { return largest + std::log(sum); }
};

}  // namespace

SyntheticRows::SyntheticRows(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head)
    : spec_(spec),
      layer_(layer),
      kv_head_(kv_head),
      plan_(spec.generator->plan(spec, layer, kv_head)),
      logits_(spec.tokens) {
  if (plan_.noise <= 0) return;
  key_noise_.resize(spec.tokens);
  for (Position j = 0; j < spec.tokens; ++j)
    key_noise_[j] = rotated_noise(kv_head, j, Purpose::key);
}

SyntheticRows::Noise SyntheticRows::draw_noise(std::size_t head,
                                               Position t,
                                               Purpose purpose) const {
  Noise noise{};
  const bool carries = purpose == Purpose::query || plan_.keys[t].part == Part::background;
  if (plan_.noise <= 0 || !carries) return noise;
  const Rng rng = synthetic_rng(spec_, layer_, head);
  const double scale = purpose == Purpose::query ? plan_.noise / std::sqrt(noise_dims) : 1;
  for (std::size_t i = 0; i < noise_dims; ++i) {
    noise[i] = scale * rng.normal(t, draw_index(purpose, i));
  }
  return noise;
}

SyntheticRows::Noise SyntheticRows::rotated_noise(std::size_t head,
                                                  Position t,
                                                  Purpose purpose) const {
  Noise noise = draw_noise(head, t, purpose);
  rotate(noise, spec_.rope, t);
  return noise;
}

double SyntheticRows::weight_of(Position t, Position j, const Noise& query_noise) const {
  const KeyPlan& key = plan_.keys[j];
  if (key.part == Part::sink) return key.weight;
  if (key.part == Part::planted) {
    return key.weight - 2 * bit_logit * differing_bits(key.label, plan_.queries[t].label);
  }
  double logit = -plan_.slope * (t - j);
  if (!key_noise_.empty()) {
    for (std::size_t i = 0; i < noise_dims; ++i) logit += query_noise[i] * key_noise_[j][i];
  }
  return logit;
}

std::array<double, part_count> SyntheticRows::weigh(std::size_t head, Position t) {
  const Noise query_noise = rotated_noise(head, t, Purpose::query);
  // A key whose label differs does not count towards the mass that the query gives to its part.
  const auto requested = [&](Position j) {
    return plan_.keys[j].part != Part::planted || plan_.keys[j].label == plan_.queries[t].label;
  };
  std::array<PartSum, part_count> parts;
  for (Position j = 0; j <= t; ++j) {
    logits_[j] = weight_of(t, j, query_noise);
    PartSum& part = parts[static_cast<std::size_t>(plan_.keys[j].part)];
    if (requested(j)) part.largest = std::max(part.largest, logits_[j]);
  }
  for (Position j = 0; j <= t; ++j) {
    PartSum& part = parts[static_cast<std::size_t>(plan_.keys[j].part)];
    if (!requested(j)) continue;
    part.sum += std::exp(logits_[j] - part.largest);
    ++part.keys;
  }

  double total = 0;
  for (std::size_t p = 0; p < part_count; ++p) {
    if (parts[p].keys > 0) total += plan_.queries[t].mass[p];
  }
  std::array<double, part_count> offsets{};
  for (std::size_t p = 0; p < part_count; ++p) {
    // A part without a requested key is silent anyway, because all of its labels differ.
    const double mass = total > 0 ? plan_.queries[t].mass[p] / total : 1;
    const double log_sum = parts[p].keys > 0 ? parts[p].log() : 0;
    offsets[p] = std::log(std::max(parts[p].keys > 0 ? mass : 0, silent_mass)) - log_sum;
  }
  return offsets;
}

void SyntheticRows::row(std::size_t head, Position t, std::span<double> out) {
  const std::array<double, part_count> offsets = weigh(head, t);
  double sum = 0;
  for (Position j = 0; j <= t; ++j) {
    out[j] = std::exp(logits_[j] + offsets[static_cast<std::size_t>(plan_.keys[j].part)]);
    sum += out[j];
  }
  for (Position j = 0; j <= t; ++j) out[j] /= sum;
}

void SyntheticRows::query(std::size_t head, Position t, std::span<double> out) {
  std::array<double, part_count> offsets = weigh(head, t);
  // Labels that agree add bit_logit per bit, and the slope's term grows with the keys' positions.
  // The offsets subtract both.
  offsets[static_cast<std::size_t>(Part::planted)] -= bit_logit * plan_.label_bits;
  offsets[static_cast<std::size_t>(Part::background)] -= plan_.slope * t;

  std::ranges::fill(out, 0.0);
  const Noise noise = draw_noise(head, t, Purpose::query);
  std::ranges::copy(noise, out.begin());
  std::ranges::copy(offsets, out.begin() + noise_dims);
  out[noise_dims + part_count] = 1;
  out[noise_dims + part_count + 1] = plan_.slope * position_unit;
  for (unsigned bit = 0; bit < plan_.label_bits; ++bit) {
    const bool set = (plan_.queries[t].label >> bit & 1) != 0;
    out[first_label_dim + bit] = set ? bit_logit : -bit_logit;
  }
  // A replay divides logits by the square root of head_dim.
  const double scale = std::sqrt(static_cast<double>(spec_.head_dim));
  for (double& value : out) value *= scale;
}

void SyntheticRows::key(Position t, std::span<double> out) const {
  const KeyPlan& key = plan_.keys[t];
  std::ranges::fill(out, 0.0);
  std::ranges::copy(draw_noise(kv_head_, t, Purpose::key), out.begin());
  out[noise_dims + static_cast<std::size_t>(key.part)] = 1;
  out[noise_dims + part_count] = key.weight;
  if (key.part == Part::background) out[noise_dims + part_count + 1] = t / position_unit;
  if (key.part != Part::planted) return;
  for (unsigned bit = 0; bit < plan_.label_bits; ++bit) {
    out[first_label_dim + bit] = (key.label >> bit & 1) != 0 ? 1 : -1;
  }
}

void SyntheticRows::value(Position t, std::span<double> out) const {
  const Rng rng = synthetic_rng(spec_, layer_, kv_head_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = rng.normal(t, draw_index(Purpose::value, i));
  }
}

}  // namespace kv
