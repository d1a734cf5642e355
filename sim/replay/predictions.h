// What a model predicted of a text: its losses by target, and its answers to questions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kv {

// The loss of the model on consecutive targets, summed over the streams.
struct LossPoint {
  std::size_t first = 0;    // the index of the first target; target 0 is a stream's second token
  std::size_t targets = 0;  // over all streams
  double nats = 0;          // sum of -ln of their probabilities

  bool operator==(const LossPoint&) const = default;
};

// Answers of the recall task whose fact was last mentioned `first` to `last` - 1 tokens earlier.
struct RecallBin {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t asked = 0;
  std::size_t right = 0;  // answers that were the likeliest token

  // "16-32"
  [[nodiscard]] std::string label() const;

  // right / asked; NaN if nothing was asked.
  [[nodiscard]] double share() const;

  bool operator==(const RecallBin&) const = default;
};

// Empty bins: 1-16, 16-32, 32-64, 64-96, 96-128, 128-256, 256-65536.
std::vector<RecallBin> recall_bins();

// The targets with indices [first, last) in their streams.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t targets = 0;
  double nats = 0;  // their sum

  [[nodiscard]] double perplexity() const;
};

// [0, width), [width, 2 width), [2 width, 4 width), ..., up to the last target. Requires that
// the points' width divides `width`.
std::vector<Segment> segments_of(std::span<const LossPoint> series, std::size_t width);

// exp of the mean loss; 1 if there are no targets.
double perplexity_of(double nats, std::size_t targets);

}  // namespace kv
