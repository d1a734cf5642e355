// The module kvcheck_mpi.so: ranks by MPI.
#include <mpi.h>

#include <array>
#include <memory>

#include "kvcheck/base/version.h"
#include "kvcheck/cli/ranks/ranks.h"

namespace kv::cli {
namespace {

// Every error of MPI ends the job, as its default handler does; so no status is looked at here.
class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &on_this_machine_);
    MPI_Comm_free(&machine);
  }

  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  ~MpiRanks() override { MPI_Finalize(); }

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(rank_); }

  [[nodiscard]] std::size_t count() const override { return static_cast<std::size_t>(count_); }

  [[nodiscard]] std::size_t on_this_machine() const override {
    return static_cast<std::size_t>(on_this_machine_);
  }

  [[nodiscard]] std::string machine() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  void send(std::size_t to, int kind, std::span<const std::byte> bytes) override {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to), kind,
             MPI_COMM_WORLD);
  }

  std::optional<RankMessage> receive() override {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (arrived == 0) return {};
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    RankMessage message{.from = static_cast<std::size_t>(status.MPI_SOURCE),
                        .kind = status.MPI_TAG,
                        .bytes = std::vector<std::byte>(static_cast<std::size_t>(length))};
    MPI_Recv(message.bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

 private:
  int rank_ = 0;
  int count_ = 1;
  int on_this_machine_ = 1;
};

}  // namespace
}  // namespace kv::cli

// Called once, by kv::cli::join_ranks.
extern "C" kv::cli::Ranks* kvcheck_join_ranks(std::string_view version, std::string& failure) {
  if (version != kv::version) {
    failure = "is of kvcheck " + std::string(kv::version) + ", and the program of " +
              std::string(version);
    return nullptr;
  }
  // The thread that communicates is not always the one that began.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    failure = "uses an MPI without threads (expected MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  return std::make_unique<kv::cli::MpiRanks>().release();
}
