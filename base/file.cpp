#include "kvcheck/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A rename is on the disk only after its folder has been flushed. Errors are ignored: the file is
// already in its place, and some file systems cannot flush folders.
void sync_folder(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

// What is mapped, for mapped_path_at(). Entries are MappedFile::Mapping, whose name is private. A
// table of fixed size without locks, because a signal handler reads it.
std::array<std::atomic<const void*>, 1024> mappings;
static_assert(std::atomic<const void*>::is_always_lock_free, "a signal handler may not wait");

const std::string open_files = "/proc/self/fd/";
const std::string temporary_mark = ".tmp-";

// Negative if the file system has no files without a name, or /proc, which names them, is missing.
int unnamed_file_beside(const std::string& path) {
  if (::access(open_files.c_str(), X_OK) != 0) return -1;
  return ::open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim)};
}

}  // namespace

Error system_error(std::string_view verb, const std::string& path) {
  const int code = errno;
  return {code == ENOENT ? Error::Kind::not_found : Error::Kind::io,
          "cannot " + std::string(verb) + " '" + path + "': " + std::strerror(code)};
}

struct MappedFile::Mapping {
  // `memory` may be null if the file is empty.
  Mapping(std::string path_of_file, const FileStamp& stamp_of_file, const void* memory)
      : path(std::move(path_of_file)),
        stamp(stamp_of_file),
        bytes(static_cast<const std::byte*>(memory), stamp_of_file.size) {
    if (bytes.empty()) return;
    for (; entry < mappings.size(); ++entry) {
      const void* none = nullptr;
      if (mappings[entry].compare_exchange_strong(none, this)) return;
    }
  }

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  ~Mapping() {
    if (bytes.empty()) return;
    if (entry < mappings.size()) mappings[entry] = nullptr;
    ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
  }

  std::string path;
  FileStamp stamp;
  std::span<const std::byte> bytes;
  std::size_t entry = 0;  // in `mappings`; their number if all are in use
};

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_error("open", path);

  struct stat status {};

  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    const char* what = S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file";
    return io_error("cannot read '" + path + "': it " + what + "; expected a file");
  }
  const FileStamp stamp = stamp_of(status);
  if (stamp.size == 0) {
    ::close(descriptor);
    return MappedFile(std::make_unique<Mapping>(path, stamp, nullptr));
  }
  void* const memory = ::mmap(nullptr, stamp.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  // Built before close(), which may change errno.
  const Error failure = system_error("map", path);
  ::close(descriptor);
  if (memory == MAP_FAILED) return failure;
  return MappedFile(std::make_unique<Mapping>(path, stamp, memory));
}

MappedFile::MappedFile(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}

MappedFile::MappedFile(MappedFile&& other) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept = default;
MappedFile::~MappedFile() = default;

std::span<const std::byte> MappedFile::bytes() const {
  return mapping_->bytes;
}

const FileStamp& MappedFile::stamp() const {
  return mapping_->stamp;
}

std::optional<FileStamp> MappedFile::stamp_now() const {
  struct stat status {};

  if (::stat(mapping_->path.c_str(), &status) != 0) return {};
  const FileStamp now = stamp_of(status);
  const bool same = now.device == stamp().device && now.inode == stamp().inode;
  return same ? std::optional(now) : std::nullopt;
}

Result<void> MappedFile::unchanged() const {
  const FileStamp& before = mapping_->stamp;
  const FileStamp now = stamp_now().value_or(before);
  const std::string changed = "'" + mapping_->path + "' changed while it was read: ";
  if (now.size != before.size) {
    return malformed(changed + "it had " + std::to_string(before.size) + " bytes and now has " +
                     std::to_string(now.size) + "; expected it to remain as it was");
  }
  if (now.modified != before.modified) {
    return malformed(changed + "it was written to; expected it to remain as it was");
  }
  return {};
}

const char* mapped_path_at(const void* address) noexcept {
  for (const std::atomic<const void*>& entry : mappings) {
    const auto* const mapping = static_cast<const MappedFile::Mapping*>(entry.load());
    if (mapping == nullptr) continue;
    const auto* const begin = mapping->bytes.data();
    if (std::less_equal<>()(static_cast<const void*>(begin), address) &&
        std::less<>()(address, static_cast<const void*>(begin + mapping->bytes.size()))) {
      return mapping->path.c_str();
    }
  }
  return nullptr;
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat status {};

  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const char* what = S_ISDIR(status.st_mode) ? "a directory" : "not a regular file";
    return io_error("cannot write '" + path + "': it is " + what);
  }
  // A symbolic link remains one: the rename replaces the file that it leads to.
  std::string target = path;
  if (exists) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (real == nullptr) return system_error("write", path);
    target = real.get();
  }
  std::string temporary;
  int descriptor = unnamed_file_beside(target);
  if (descriptor < 0) {
    temporary = target + temporary_mark + "XXXXXX";
    descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  }
  if (descriptor < 0) return system_error("write", path);
  // The file is private so far. One that replaces another gets its permissions, a new one what
  // the user's mask allows; the mask can be read only by setting it.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 0777 : 0666 & ~mask);
  return AtomicFile(std::move(target), std::move(temporary), descriptor);
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  KV_CHECK(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Result<void> AtomicFile::commit() {
  KV_CHECK(descriptor_ >= 0);
  // The bytes must be on the disk before the rename, or a crash could leave an empty file in place
  // of the old one.
  if (::fsync(descriptor_) != 0) return system_error("write", path_);
  if (temporary_.empty() && !name_file()) return system_error("write", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return system_error("write", path_);
  ::close(std::exchange(descriptor_, -1));
  sync_folder(path_);
  return {};
}

// Links cannot replace a file, so the first name is a temporary one.
bool AtomicFile::name_file() {
  const std::string unnamed = open_files + std::to_string(descriptor_);
  const std::string begin = path_ + temporary_mark + std::to_string(::getpid()) + "-";
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string name = begin + std::to_string(attempt);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);  // which cannot fail, so that the name is always removed
      return true;
    }
    if (errno != EEXIST) return false;
  }
  return false;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.error();
  if (Result<void> written = file->write(text); !written) return written;
  return file->commit();
}

}  // namespace kv
