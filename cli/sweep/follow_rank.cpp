#include "kvcheck/cli/sweep/follow_rank.h"

#include <chrono>
#include <optional>
#include <thread>

#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/sweep/rank_messages.h"
#include "kvcheck/cli/sweep/run_blocks.h"

namespace kv::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A blocked receive of MPI keeps a core busy, which the other ranks need.
constexpr auto between_looks = std::chrono::milliseconds(1);
constexpr auto between_looks_at_work = std::chrono::milliseconds(20);

class Follower {
 public:
  explicit Follower(Ranks& ranks) : ranks_(ranks) {}

  void say(RankWord word, std::span<const std::byte> bytes) {
    ranks_.send(0, static_cast<int>(word), bytes);
  }

  void say(RankWord word, const std::string& sentence) {
    say(word, bytes_of(std::string_view(sentence)));
  }

  // Waits for the next block, or for the end.
  std::optional<RankMessage> next() {
    while (!ended_) {
      auto message = look();
      if (message) return message;
      if (!ended_) std::this_thread::sleep_for(between_looks);
    }
    return {};
  }

  void run(const SweepPlan& plan, const SweepBlock& block, std::size_t threads) {
    SentParts parts;
    WorkOptions options{.threads = static_cast<unsigned>(threads), .parts = &parts};
    options.progress = [&](double /*share*/) { return continues(); };
    const auto result = try_block(plan, block, options);
    if (ended_) return;
    if (interrupted()) return say(RankWord::failed, "interrupted");
    if (!result) return say(RankWord::failed, result.error().message);
    if (parts.bytes().size() > longest_message) {
      return say(RankWord::failed, "the results of one block have " +
                                       std::to_string(parts.bytes().size()) +
                                       " bytes, and a message of MPI at most 2147483647");
    }
    say(RankWord::finished, parts.bytes());
  }

 private:
  std::optional<RankMessage> look() {
    auto message = ranks_.receive();
    if (message && message->kind == static_cast<int>(RankWord::end)) {
      ended_ = true;
      message.reset();
    }
    return message;
  }

  // Rank 0 sends nothing but the end while a block runs.
  bool continues() {
    if (ended_ || interrupted()) return false;
    if (const auto now = Clock::now(); now >= look_at_) {
      look_at_ = now + between_looks_at_work;
      look();
    }
    return !ended_;
  }

  Ranks& ranks_;
  Clock::time_point look_at_;
  bool ended_ = false;
};

}  // namespace

void follow_rank(Ranks& ranks, const SweepPlan& plan, std::size_t threads) {
  Follower follower(ranks);
  follower.say(RankWord::hello, bytes_of(Greeting{ranks.machine(), sweep_words(plan)}));
  while (const auto message = follower.next()) {
    const auto block = block_of(message->bytes, plan);
    if (block) {
      follower.run(plan, *block, threads);
    } else {
      follower.say(RankWord::failed, "rank 0 asked for a block that the plan does not have");
    }
  }
  follower.say(RankWord::ended, std::string());
}

void refuse_rank(Ranks& ranks, const std::string& why) {
  Follower follower(ranks);
  follower.say(RankWord::refused, bytes_of(Greeting{ranks.machine(), why}));
  follower.next();
  follower.say(RankWord::ended, std::string());
}

}  // namespace kv::cli
