// What a stored key and value say when they are read back.
#include <algorithm>
#include <cmath>
#include <span>

#include "kvcheck/properties/tagged/tagged_state.h"

namespace kv::properties {
namespace {

// |held - fed| / |fed|.
double distance(const KeyVector& held, const KeyVector& fed) {
  double off = 0;
  double whole = 0;
  for (std::size_t i = 0; i < key_size; ++i) {
    const double difference = static_cast<double>(held[i]) - static_cast<double>(fed[i]);
    off += difference * difference;
    whole += static_cast<double>(fed[i]) * static_cast<double>(fed[i]);
  }
  return std::sqrt(off / whole);
}

// The largest difference, in steps of its group. Numbers without a step must be 0.
double most_steps(std::span<const float> held,
                  std::span<const float> fed,
                  std::span<const float> steps) {
  double most = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const double off = std::abs(static_cast<double>(held[i]) - static_cast<double>(fed[i]));
    const auto step = static_cast<double>(steps[i / payload_group]);
    if (off > 0) most = std::max(most, step > 0 ? off / step : 1);
  }
  return most;
}

// How far the numbers are from those that were fed, in steps of their codes.
double steps_off(const StoredVectors& vectors, PairLayout layout) {
  const KeyVector key = encode_key(vectors.token, vectors.place, vectors.position, layout);
  const ValueVector value = encode_value(vectors.token, vectors.place);
  if (vectors.full_precision) return key == vectors.key && value == vectors.value ? 0 : 1;
  const std::span<const float> steps(vectors.steps);
  constexpr std::size_t of_keys = (key_size + payload_group - 1) / payload_group;
  return std::max(most_steps(vectors.key, key, steps.first(of_keys)),
                  most_steps(vectors.value, value, steps.subspan(of_keys)));
}

}  // namespace

Row read_row(const StoredVectors& held, const TaggedOptions& options) {
  const KeyReading key = read_key(held.key, options.layout);
  const ValueReading value = read_value(held.value);
  const bool derived = options.positions == PositionMode::in_cache;
  Row reported{.value = value.token,
               .key = key.token,
               .value_place = value.place,
               .key_place = key.place,
               .position = derived ? not_reported : key.position,
               .key_error = key.error,
               .full_precision = held.full_precision,
               .apart = true};
  if (!has_tiers(options.precision)) return reported;
  if (options.positions != PositionMode::shifted)
    reported.steps_off = steps_off(held, options.layout);
  if (options.precision == Precision::int4 && !held.full_precision) {
    reported.value = reported.key = held.token;
    reported.value_place = reported.key_place = held.place;
    reported.position = derived ? not_reported : held.position;
    reported.key_error =
        distance(held.key, encode_key(held.token, held.place, held.position, options.layout));
  }
  return reported;
}

}  // namespace kv::properties
