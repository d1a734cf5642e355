// Members of a .npz archive, which is a zip file of .npy files, stored or deflated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv {

// True when `bytes` begins like a zip archive.
bool is_zip(std::span<const std::byte> bytes);

// A member with more bytes than this is refused, because it would have to be held in memory; an
// .npy file of any size is mapped instead.
inline constexpr std::uint64_t archive_member_limit = std::uint64_t{4} << 30;

// Reads one member of a mapped archive from its first byte to its last. open() selects the one
// named attention.npy, or the only one beside kv_heads.npy and learned_sinks.npy. Messages name the
// member but not the file.
class ArchiveMember {
 public:
  // `bytes` must outlive the result.
  static Result<ArchiveMember> open(std::span<const std::byte> bytes);

  // The member of that name; nothing if there is none.
  static Result<std::optional<ArchiveMember>> open_named(std::span<const std::byte> bytes,
                                                         const std::string& name);

  ArchiveMember(ArchiveMember&&) noexcept;
  ArchiveMember& operator=(ArchiveMember&&) = delete;
  ArchiveMember(const ArchiveMember&) = delete;
  ArchiveMember& operator=(const ArchiveMember&) = delete;
  ~ArchiveMember();

  [[nodiscard]] const std::string& name() const;

  // The size that the archive declares, which may be wrong; at most archive_member_limit.
  [[nodiscard]] std::uint64_t size() const;

  // At most the size of the archive; size() is at most 1032 times as large.
  [[nodiscard]] std::uint64_t compressed_size() const;

  // Reads the next bytes into `into` and returns how many, fewer than its size only at the end.
  Result<std::size_t> read(std::span<std::byte> into);

 private:
  struct State;
  explicit ArchiveMember(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace kv
