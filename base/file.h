// Files: mapped for reading, replaced atomically when written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv {

// What tells one state of a file from another without reading it.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;     // bytes
  std::int64_t modified = 0;  // when its bytes were last written; nanoseconds since 1970
  std::int64_t changed = 0;   // when its bytes, its name or its permissions last changed; likewise

  bool operator==(const FileStamp&) const = default;
};

// The bytes of a file, mapped read-only. The object can be moved but not copied; its destructor
// unmaps the file. If another process shortens the file, reading what is gone raises SIGBUS;
// mapped_path_at() tells a signal handler which file it was.
class MappedFile {
 public:
  // Opens and maps the file. Errors name the path and the reason: not found, a directory, no
  // permission, not a regular file. An empty file maps to an empty span.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const;

  // The file's state when it was opened, and now; nothing if it was removed or another file has
  // taken its name, because the mapping keeps the old one.
  [[nodiscard]] const FileStamp& stamp() const;
  [[nodiscard]] std::optional<FileStamp> stamp_now() const;

  // An error of kind malformed if the file was written to or has another size since it was opened,
  // so that what was read may be partly old and partly new. What others write through a mapping of
  // theirs changes the time late, so only a checksum finds that for certain.
  [[nodiscard]] Result<void> unchanged() const;

 private:
  friend const char* mapped_path_at(const void* address) noexcept;

  struct Mapping;
  explicit MappedFile(std::unique_ptr<Mapping> mapping);

  std::unique_ptr<Mapping> mapping_;
};

// The path of the mapped file whose bytes include the address; null if none of the first 1,024 that
// are mapped at a time does. May be called in a signal handler.
const char* mapped_path_at(const void* address) noexcept;

// A file that appears whole or not at all. write() writes to a file without a name on the target's
// file system; commit() flushes it to the disk, names it and renames it over the target. So nothing
// remains of it if the process is killed, except in the instant between the two names. On file
// systems without such files, write() writes to PATH.tmp-XXXXXX, which the destructor removes. A
// file that is replaced keeps its permissions; of a symbolic link, the file that it leads to is
// replaced. Other hard links keep the old content.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);
  Result<void> commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor);
  bool name_file();

  std::string path_;
  std::string temporary_;  // its name; empty if it has none
  int descriptor_ = -1;
};

// Writes `text` as the whole content of a file, atomically.
Result<void> write_file(const std::string& path, std::string_view text);

// The Error "cannot VERB 'PATH': REASON", with the reason that errno holds.
Error system_error(std::string_view verb, const std::string& path);

}  // namespace kv
