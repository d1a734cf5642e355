#include "kvcheck/tests/traces/synthetic_helpers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "kvcheck/base/half.h"

namespace kv::synthetic_test {
namespace {

std::vector<double> vector_at(const TensorView& view, std::size_t head, Position t) {
  std::vector<double> out(view.shape[2]);
  const std::size_t begin = (head * view.shape[1] + t) * out.size();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number_at(view, begin + i);
  return out;
}

void rotate(std::vector<double>& x, const Rope& rope, Position t) {
  if (rope.layout == RopeLayout::none) return;
  for (std::size_t i = 0; i < rope.dims / 2; ++i) {
    const bool half = rope.layout == RopeLayout::half;
    double& a = x[half ? i : 2 * i];
    double& b = x[half ? i + rope.dims / 2 : 2 * i + 1];
    const double angle =
        t / std::pow(rope.theta, 2.0 * static_cast<double>(i) / static_cast<double>(rope.dims));
    const auto [c, s] = std::pair(std::cos(angle), std::sin(angle));
    std::tie(a, b) = std::pair(a * c - b * s, a * s + b * c);
  }
}

}  // namespace

std::vector<std::string> small_specs() {
  return {
      "sink-recency:tokens=201,heads=2,decay=16",
      "zipf:tokens=201,heads=2,hitters=12,within=50,decay=16",
      "drift:tokens=201,heads=2,hitters=6,period=40,decay=16",
      "needle:tokens=201,heads=2,position=20,spread=10,ask_at=100,ask_every=37,decay=16",
      "topics:tokens=201,heads=2,topics=3,block=24,anchors=4,decay=16",
      "uniform:tokens=201,heads=2",
      "one-hot:tokens=201,heads=2,budget=16,recent=8",
      "ties:tokens=201,heads=2,levels=3",
  };
}

SyntheticSpec spec_of(std::string_view text) {
  const auto spec = parse_synthetic(text);
  if (!spec) ADD_FAILURE() << spec.error().message;
  return spec.value();
}

Trace make(std::string_view text) {
  return make_synthetic(spec_of(text));
}

double number_at(const TensorView& view, std::size_t index) {
  const std::byte* at = view.data + index * view.bytes_per_number();
  float single = 0;
  std::uint16_t half = 0;
  std::memcpy(view.number == Number::f32 ? static_cast<void*>(&single) : &half, at,
              view.bytes_per_number());
  return view.number == Number::f32 ? single : f16_to_f32(half);
}

std::vector<double> stored_row(const Trace& trace,
                               std::size_t layer,
                               std::size_t head,
                               Position t) {
  return vector_at(trace.layer(layer).attention, head, t);
}

std::vector<double> computed_row(const Trace& trace,
                                 std::size_t layer,
                                 std::size_t head,
                                 Position t) {
  const TraceInfo& info = trace.info();
  const std::size_t kv_head = kv_head_of(info, head);
  std::vector<double> query = vector_at(trace.layer(layer).q, head, t);
  rotate(query, info.rope, t);

  std::vector<double> row(info.tokens, 0);
  double largest = -1e300;
  for (Position j = 0; j <= t; ++j) {
    std::vector<double> key = vector_at(trace.layer(layer).k, kv_head, j);
    rotate(key, info.rope, j);
    for (std::size_t i = 0; i < key.size(); ++i) row[j] += query[i] * key[i];
    row[j] /= std::sqrt(static_cast<double>(info.head_dim));
    largest = std::max(largest, row[j]);
  }
  double sum = 0;
  for (Position j = 0; j <= t; ++j) sum += row[j] = std::exp(row[j] - largest);
  for (Position j = 0; j <= t; ++j) row[j] /= sum;
  return row;
}

double mass_on(const Plant& plant, const std::vector<double>& row, Position t) {
  double mass = 0;
  for (const PlantedKey& key : plant.keys) mass += key.position <= t ? row[key.position] : 0;
  return mass;
}

}  // namespace kv::synthetic_test
