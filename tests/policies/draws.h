// Draws under a test's control: scripted answers, or all possible answers in sequence.
#pragma once

#include <deque>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/draws.h"

namespace kv {

// Returns the queued numbers in order. A draw beyond the script fails a KV_CHECK.
class ScriptedDraws final : public Draws {
 public:
  struct Asked {
    std::uint64_t bound;
    Position position;
    std::uint32_t index;

    bool operator==(const Asked&) const = default;
  };

  std::deque<std::uint64_t> numbers;
  std::deque<double> uniforms;
  std::vector<Asked> asked;

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    asked.push_back({bound, position, index});
    return pop(numbers);
  }

  double uniform(Position position, std::uint32_t index) override {
    asked.push_back({0, position, index});
    return pop(uniforms);
  }

 private:
  template <typename T>
  static T pop(std::deque<T>& values) {
    KV_CHECK(!values.empty());
    const T value = values.front();
    values.pop_front();
    return value;
  }
};

// Enumerates all sequences of answers to below(). A test runs the policy, checks the result, and
// calls next() until it returns false. A sequence has the probability 1 / product(), where
// product() is the product of its bounds.
class EveryDraw final : public Draws {
 public:
  std::uint64_t below(std::uint64_t bound, Position, std::uint32_t) override {
    if (depth_ == answers_.size()) {
      answers_.push_back(0);
      bounds_.push_back(bound);
    }
    KV_CHECK(bounds_[depth_] == bound);
    return answers_[depth_++];
  }

  double uniform(Position, std::uint32_t) override {
    constexpr bool can_be_enumerated = false;
    KV_CHECK(can_be_enumerated);
    return 0;
  }

  [[nodiscard]] std::uint64_t product() const {
    std::uint64_t out = 1;
    for (const std::uint64_t bound : bounds_) out *= bound;
    return out;
  }

  bool next() {
    depth_ = 0;
    while (!answers_.empty() && answers_.back() + 1 == bounds_.back()) {
      answers_.pop_back();
      bounds_.pop_back();
    }
    if (answers_.empty()) return false;
    ++answers_.back();
    return true;
  }

 private:
  std::vector<std::uint64_t> answers_, bounds_;
  std::size_t depth_ = 0;
};

}  // namespace kv
