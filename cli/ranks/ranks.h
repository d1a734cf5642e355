// Ranks: the processes that `mpirun -n N kvcheck sweep ...` starts, and the messages between them.
//
// MPI is not linked into the program. It is in a module, kvcheck_mpi.so, which the build option
// KVCHECK_MPI makes, and which is loaded only where a launcher of MPI has started the program.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::cli {

struct RankMessage {
  std::size_t from = 0;  // the rank that sent it
  int kind = 0;
  std::vector<std::byte> bytes;
};

// This process as one of several. One thread at a time may call it. If another rank dies, the
// launcher ends this one too.
class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Leaves; waits until all other ranks leave. No message may be under way.
  virtual ~Ranks() = default;

  [[nodiscard]] virtual std::size_t rank() const = 0;             // from 0
  [[nodiscard]] virtual std::size_t count() const = 0;            // at least 2
  [[nodiscard]] virtual std::size_t on_this_machine() const = 0;  // how many, this one included
  [[nodiscard]] virtual std::string machine() const = 0;          // its name

  // Sends the bytes, of which there may be up to longest_message. May wait until they are received.
  virtual void send(std::size_t to, int kind, std::span<const std::byte> bytes) = 0;

  // The next message, if one has arrived. Messages of one rank arrive in the order they were sent.
  virtual std::optional<RankMessage> receive() = 0;
};

inline constexpr std::size_t longest_message = 0x7fffffff;  // MPI counts bytes with an int

// What the module exports: ranks of this process, or nothing with a sentence in `failure`.
using JoinRanks = Ranks*(std::string_view version, std::string& failure);
inline constexpr const char* join_ranks_symbol = "kvcheck_join_ranks";

// The ranks that this process was started with; null if it was started alone. Errors: a launcher
// has started several ranks, and there is no module, or it is of another version.
Result<std::unique_ptr<Ranks>> join_ranks();

// How many threads each rank uses by default: its share of the machine's cores, and no more than
// the process may use.
std::size_t threads_of(const Ranks& ranks);

}  // namespace kv::cli
