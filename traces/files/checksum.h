// Checksums of trace files, kept beside those that take long to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kvcheck/base/file.h"

struct XXH3_state_s;

namespace kv {

// XXH3-64 of bytes that arrive in pieces.
class Checksum {
 public:
  Checksum();
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  std::shared_ptr<XXH3_state_s> state_;
};

// Receives the share of a file that has been read, now and then.
using HashProgress = std::function<void(double share)>;

// " of N bytes, inode ..., modified ..., changed ...", which tells one state of a file from another
// in what is kept beside it. The device is left out, as its number may differ after a restart.
std::string stamp_text(const FileStamp& stamp);

// XXH3-64 of the file's bytes. Cost: reads all of them.
std::uint64_t checksum_of(const MappedFile& file, const HashProgress& progress = {});

// The checksum of a file of at least this size is kept beside it; reading a smaller one takes a few
// seconds at most, and no cache is wrong that is not there.
inline constexpr std::uint64_t kept_checksum_size = std::uint64_t{1} << 30;

// The same, but takes what PATH.xxh3 holds if it was written for the file as it is, and writes it
// otherwise. That file is only used if size, inode and both times of the file are those that it
// names, so a copied, replaced or rewritten file is read again. Does nothing special for a file of
// fewer than `smallest` bytes, or where the folder cannot be written.
std::uint64_t kept_checksum_of(const MappedFile& file,
                               const std::string& path,
                               const HashProgress& progress = {},
                               std::uint64_t smallest = kept_checksum_size);

}  // namespace kv
