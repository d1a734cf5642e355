#include "kvcheck/cli/sweep/lead_ranks.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/sweep/rank_messages.h"

namespace kv::cli {
namespace {

// A blocked receive of MPI keeps a core busy, which the threads that replay need.
void wait_a_little() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

std::optional<RankMessage> Followers::receive() {
  auto message = ranks_.receive();
  if (message && message->kind == static_cast<int>(RankWord::ended)) {
    states_[message->from].state = State::ended;
  }
  return message;
}

Followers::~Followers() {
  for (std::size_t rank = 1; rank < states_.size(); ++rank) {
    ranks_.send(rank, static_cast<int>(RankWord::end), {});
  }
  const auto ended = [](const Follower& follower) { return follower.state == State::ended; };
  while (!std::ranges::all_of(std::span(states_).subspan(1), ended)) {
    if (!receive()) wait_a_little();
  }
}

LedSweep::LedSweep(Followers& followers,
                   const SweepPlan& plan,
                   std::span<const SweepBlock> blocks,
                   const BlockHooks& hooks,
                   const Say& say)
    : followers_(followers),
      plan_(plan),
      blocks_(blocks),
      hooks_(hooks),
      say_(say),
      deal_(blocks),
      progress_(blocks, hooks.progress),
      cells_(followers.all().size()) {}

Result<void> LedSweep::run(std::size_t threads) {
  // On one thread, if the machine gives no second one, the messages come first: they end when no
  // other rank works.
  auto done = run_tasks(2, 2, [&](const RunningTask& running) {
    auto result = running.index() == 0 ? communicate() : compute(threads);
    if (!result) progress_.stop();
    return result;
  });
  if (!done) return done;
  if (deal_.finished()) return {};
  if (progress_.stopped())
    return Error{Error::Kind::busy, "stopped before all cells were finished"};
  return malformed("no rank is left that runs cells: " + last_why_);
}

std::pair<std::size_t, std::size_t> LedSweep::cells_by_rank() const {
  const auto [least, most] = std::ranges::minmax_element(cells_);
  return {*least, *most};
}

Result<void> LedSweep::communicate() {
  while (!deal_.finished() && progress_.ask()) {
    if (const auto message = followers_.receive()) {
      if (auto taken = take(*message); !taken) return taken;
      continue;
    }
    // A block that was given back.
    for (std::size_t rank = 1; rank < followers_.all().size(); ++rank) deal_to(rank);
    if (!anybody_works()) return {};
    wait_a_little();
  }
  return {};
}

bool LedSweep::anybody_works() const {
  return std::ranges::any_of(followers_.all().subspan(1), [](const Followers::Follower& follower) {
    return follower.state < Followers::State::retired;
  });
}

Result<void> LedSweep::take(const RankMessage& message) {
  switch (static_cast<RankWord>(message.kind)) {
    case RankWord::hello:
      greet(message.from, message.bytes);
      return {};
    case RankWord::refused: {
      const Greeting greeting = greeting_of(message.bytes);
      followers_[message.from].machine = greeting.machine;
      retire(message.from, greeting.words);
      return {};
    }
    case RankWord::failed:
      retire(message.from, sentence_of(message.bytes));
      return {};
    case RankWord::finished:
      return finish(message.from, message.bytes);
    case RankWord::ended:
    case RankWord::run:
    case RankWord::end:
      return {};
  }
  return {};
}

void LedSweep::greet(std::size_t rank, std::span<const std::byte> bytes) {
  const Greeting greeting = greeting_of(bytes);
  followers_[rank].machine = greeting.machine;
  const std::string ours = sweep_words(plan_);
  if (greeting.words != ours) {
    return retire(rank, "it has another version of kvcheck, plan or trace ('" + greeting.words +
                            "' instead of '" + ours + "')");
  }
  followers_[rank].state = Followers::State::idle;
  deal_to(rank);
}

void LedSweep::deal_to(std::size_t rank) {
  Followers::Follower& follower = followers_[rank];
  if (follower.state != Followers::State::idle) return;
  const auto block = deal_.take();
  if (!block) return;
  follower.state = Followers::State::running;
  follower.block = *block;
  followers_.ranks().send(rank, static_cast<int>(RankWord::run), bytes_of(blocks_[*block]));
}

void LedSweep::retire(std::size_t rank, std::string_view why) {
  Followers::Follower& follower = followers_[rank];
  if (follower.state == Followers::State::running) deal_.give_back(follower.block);
  follower.state = Followers::State::retired;
  say_retired(rank, follower.machine, why);
}

void LedSweep::say_retired(std::size_t rank, const std::string& machine, std::string_view why) {
  const std::lock_guard lock(mutex_);
  last_why_ = why;
  say_(printable_line("rank " + std::to_string(rank) + " on '" + machine +
                      "' runs no more cells: " + last_why_));
}

Result<void> LedSweep::finish(std::size_t rank, std::span<const std::byte> parts) {
  const std::size_t block = followers_[rank].block;
  followers_[rank].state = Followers::State::idle;
  // It need not wait until the results are on the disk.
  deal_to(rank);
  ReceivedParts received(parts);
  const auto result = try_block(plan_, blocks_[block], {.parts = &received});
  if (!result) return result.error();
  return store(rank, block, *result);
}

Result<void> LedSweep::store(std::size_t rank,
                             std::size_t block,
                             const reports::SweepResult& result) {
  {
    const std::lock_guard lock(mutex_);
    const FinishedBlock finished{.block = blocks_[block],
                                 .result = result,
                                 .seconds = std::numeric_limits<double>::infinity()};
    if (auto done = hooks_.done(finished); !done) return done;
    cells_[rank] += blocks_[block].cells.size();
  }
  progress_.update(block, 1, plan_.work->sources()[blocks_[block].source].name);
  deal_.finish(block);
  return {};
}

Result<void> LedSweep::compute(std::size_t threads) {
  while (!deal_.finished() && !progress_.stopped()) {
    const auto block = deal_.take();
    if (!block) {
      wait_a_little();  // another rank may give one back
      continue;
    }
    const std::string& name = plan_.work->sources()[blocks_[*block].source].name;
    WorkOptions options{.threads = static_cast<unsigned>(threads)};
    options.progress = [&](double share) { return progress_.update(*block, share, name); };
    const auto result = try_block(plan_, blocks_[*block], options);
    if (result) {
      if (auto stored = store(0, *block, *result); !stored) return stored;
      continue;
    }
    if (progress_.stopped()) return {};
    progress_.update(*block, 0, name);
    say_retired(0, followers_[0].machine, result.error().message);
    deal_.give_back(*block);
    return {};
  }
  return {};
}

}  // namespace kv::cli
