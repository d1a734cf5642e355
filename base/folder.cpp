#include "kvcheck/base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "kvcheck/base/file.h"

namespace kv {
namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// Calls visit(name, type) for everything in the open folder, in the order of the file system, with
// a type of a dirent64. Reads into the stack; opendir() would allocate. False on an error.
template <typename Visit>
bool visit_entries(int folder, const Visit& visit) {
  alignas(dirent64) std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t size = ::getdents64(folder, bytes.data(), bytes.size());
    if (size <= 0) return size == 0;
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(bytes.data() + at);
      at += entry->d_reclen;
      const std::string_view name = &entry->d_name[0];
      if (name != "." && name != "..") visit(name.data(), entry->d_type);
    }
  }
}

// Some file systems do not say what an entry is.
bool is_folder(int folder, const char* name, unsigned char type) {
  if (type != DT_UNKNOWN) return type == DT_DIR;

  struct stat status {};

  return ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

// Closes a descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

void empty_folder(int folder) noexcept {
  visit_entries(folder, [&](const char* name, unsigned char type) {
    if (!is_folder(folder, name, type)) {
      ::unlinkat(folder, name, 0);
      return;
    }
    const Descriptor inner(::openat(folder, name, folder_flags));
    if (inner.number() >= 0) empty_folder(inner.number());
    ::unlinkat(folder, name, AT_REMOVEDIR);
  });
}

}  // namespace

Result<std::vector<FolderEntry>> entries_of(const std::string& folder) {
  // Links to folders are followed here: the path is the user's.
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0) return system_error("read", folder);
  std::vector<FolderEntry> entries;
  const bool whole = visit_entries(opened.number(), [&](const char* name, unsigned char type) {
    entries.push_back({.name = name, .is_folder = is_folder(opened.number(), name, type)});
  });
  if (!whole) return system_error("read", folder);
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

void remove_folder(const char* path) noexcept {
  {
    const Descriptor folder(::open(path, folder_flags));
    if (folder.number() < 0) return;
    // Some file systems move entries when others are removed, so that the first pass misses them.
    for (int pass = 0; pass < 2; ++pass) {
      ::lseek(folder.number(), 0, SEEK_SET);
      empty_folder(folder.number());
    }
  }
  ::rmdir(path);
}

}  // namespace kv
