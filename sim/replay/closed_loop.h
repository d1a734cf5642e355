// The closed loop: how well a model predicts a text when it attends only to the tokens that each
// policy keeps. The counterpart of ReplayResult, with keys and values of a model that saw only
// these tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

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

// One spec and seed.
struct ClosedLoopCell {
  Cell cell;
  std::size_t kv_bytes = 0;  // of keys and values at their peak, the largest of the streams
  // The retained mass of attention, by a replay of the model's own dense run over each stream (open
  // loop): the mean over heads and over streams, weighted by length. NaN unless it was requested.
  double retained_mass = not_measured;
  std::vector<LossPoint> series;  // all targets, in steps of ClosedLoopResult::series_width
  std::vector<RecallBin> recall;  // empty if the text asks nothing

  [[nodiscard]] std::size_t targets() const;
  [[nodiscard]] double perplexity() const;

  // All bins as one.
  [[nodiscard]] RecallBin recall_in_all() const;
};

// The results of all specs on one text, as streams of any length or cut into windows.
struct ClosedLoopResult {
  std::string model;         // its path, as given
  std::string architecture;  // llama, gpt_neox or gpt2, and further properties
  std::size_t weight_bytes = 0;
  std::size_t context = 0;       // the length that it was trained on
  std::string text;              // the file's path, as given
  std::uint64_t checksum = 0;    // XXH3-64 of the file's bytes
  std::string storage;           // of keys and values, as in --storage and --keys
  std::size_t window = 0;        // tokens of a window, each with an empty cache; 0: not cut
  std::size_t streams = 0;       // or windows
  std::size_t tokens = 0;        // of all streams
  std::size_t longest = 0;       // tokens of the longest stream
  std::size_t segment = 0;       // the first segment that tables show, a multiple of series_width
  std::size_t series_width = 0;  // targets of one stream per LossPoint
  std::vector<ClosedLoopCell> cells;

  // Whether the text asks questions that it answers.
  [[nodiscard]] bool asks() const;
};

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
