// The closed loop: how well a model predicts a text when it attends only to the tokens that each
// policy keeps. The counterpart of ReplayResult, with keys and values of a model that saw only
// these tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/predictions.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv {

// One spec and seed.
struct ClosedLoopCell {
  Cell cell;
  std::size_t kv_bytes = 0;  // of keys and values at their peak, the largest of the streams
  // The retained mass of attention, by a replay of the model's own dense run over each stream (open
  // loop): the mean over heads and over streams, weighted by length. NaN unless it was requested.
  double retained_mass = not_measured;
  // Of the targets that queries predict from a stream's first loss on (sim/cache/visible_limits.h),
  // before which every policy predicts as dense does: how many, and the sum of their losses. None
  // if nothing was lost, and none are known of results that a version before 11 of the results file
  // holds.
  std::size_t targets_after = 0;
  double nats_after = 0;
  // The queries of that replay from a stream's first loss on. None if nothing was lost or there was
  // no replay, and none are known of results that a version before 13 of the results file holds.
  std::size_t queries_after = 0;
  std::vector<LossPoint> series;  // all targets, in steps of ClosedLoopResult::series_width
  std::vector<RecallBin> recall;  // empty if the text asks nothing

  [[nodiscard]] std::size_t targets() const;
  [[nodiscard]] double perplexity() const;

  // NaN if there are none.
  [[nodiscard]] double perplexity_after() const;

  // The retained mass over queries_after, for an evaluation of this many tokens in all streams: no
  // query before them lost any. NaN if there are none.
  [[nodiscard]] double retained_mass_after(std::size_t tokens) const;

  // All bins as one.
  [[nodiscard]] RecallBin recall_in_all() const;
};

// What results were made of. 0 stands for what is not known, as in results files of older versions.
struct ModelInputs {
  std::uint64_t weights = 0;  // a checksum of the model's files, whatever their names
  // Of all that decides a cell besides the version, its spec and its seed: weights, tokens, and the
  // settings of the run. Only sweeps know it.
  std::uint64_t cell = 0;

  bool operator==(const ModelInputs&) const = default;
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
  Marks marks{};                 // of every stream
  std::size_t segment = 0;       // the first segment that tables show, a multiple of series_width
  std::size_t series_width = 0;  // targets of one stream per LossPoint
  ModelInputs inputs{};
  std::vector<ClosedLoopCell> cells;

  // Whether the text asks questions that it answers.
  [[nodiscard]] bool asks() const;
};

// What a model answered to the items of a task file under each policy (`kvcheck eval --tasks`).

// An item as far as results name it.
struct AskedItem {
  std::string id{};
  std::string group{};       // may be empty
  std::size_t context = 0;   // tokens, the begin token included
  std::size_t question = 0;  // tokens
  std::size_t answer = 0;    // tokens of the first right answer
  std::size_t choices = 0;   // how many the model ranked; 0: none
  // XXH3-64 of what it asks and expects, whatever its id; 0: not known, as in older results files.
  std::uint64_t checksum = 0;

  bool operator==(const AskedItem&) const = default;
};

// The answer to one item under one spec and seed.
struct TaskAnswer {
  std::string text{};     // as generated, up to the first stop
  bool exact = false;     // scores of the text: model/tasks/answer_scores.h
  bool contains = false;  // ...
  double f1 = 0;          // ...
  double loss = 0;        // -ln of the probability of the first right answer, per token, in nats
  std::size_t rank = 0;   // of the right choice by probability, 1 for the likeliest; 0: no choices

  bool operator==(const TaskAnswer&) const = default;
};

struct TaskCell {
  Cell cell;                          // as given: each item resolves its phases for itself
  std::size_t kv_bytes = 0;           // of keys and values at their peak, the largest of the items
  std::vector<TaskAnswer> answers{};  // by item
};

struct TaskResult {
  std::string model{};         // its path, as given
  std::string architecture{};  // llama, gpt_neox or gpt2, and further properties
  std::size_t weight_bytes = 0;
  std::size_t context = 0;     // the length that it was trained on
  std::string file{};          // the task file's path, as given
  std::uint64_t checksum = 0;  // XXH3-64 of the file's bytes
  std::string storage{};       // of keys and values, as in --storage and --keys
  ModelInputs inputs{};
  std::vector<AskedItem> items{};
  std::vector<TaskCell> cells{};
};

}  // namespace kv
