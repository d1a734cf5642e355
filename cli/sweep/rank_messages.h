// What the ranks of a sweep say to each other. Rank 0 leads: it has the results file, deals the
// blocks and runs blocks itself. The others follow: each runs one block at a time, and sends the
// parts of its run (base/kept_parts.h), from which rank 0 makes the results without computing.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/sweep/blocks.h"

namespace kv::cli {

enum class RankWord : int {
  hello = 1,  // from a follower: it is ready; Greeting with sweep_words()
  refused,    // from a follower: it cannot work; Greeting with a sentence
  finished,   // from a follower: the parts of its block
  failed,     // from a follower: a sentence; it did not finish its block, and runs no more
  ended,      // from a follower: its last message
  run,        // to a follower: a block
  end,        // to a follower: what it runs is not needed any more
};

// The first message of a follower.
struct Greeting {
  std::string machine;
  std::string words;
};

// What must be the same in all ranks: the version, the plan and the checksums of its traces.
std::string sweep_words(const SweepPlan& plan);

std::vector<std::byte> bytes_of(const Greeting& greeting);
Greeting greeting_of(std::span<const std::byte> bytes);

std::vector<std::byte> bytes_of(std::string_view sentence);
std::string sentence_of(std::span<const std::byte> bytes);

// Only the source and the cells of the block.
std::vector<std::byte> bytes_of(const SweepBlock& block);

// Nothing if it is no block of the plan.
std::optional<SweepBlock> block_of(std::span<const std::byte> bytes, const SweepPlan& plan);

// The parts of a run as the bytes of a message.
class SentParts final : public PartStore {
 public:
  SentParts();
  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override;
  void keep(std::vector<KeptPart> parts) override;

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
};

// The parts in a message. What it lacks is computed anew.
class ReceivedParts final : public PartStore {
 public:
  // The bytes must outlive it.
  explicit ReceivedParts(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override;
  void keep(std::vector<KeptPart> parts) override;

 private:
  std::map<std::string_view, std::span<const std::byte>> parts_;
};

}  // namespace kv::cli
