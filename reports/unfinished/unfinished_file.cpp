#include "kvcheck/reports/unfinished/unfinished_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/unfinished/part_records.h"

namespace kv::reports {
namespace {

Result<void> write_all(int descriptor,
                       std::span<const std::byte> bytes,
                       std::size_t at,
                       const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::size_t>(written);
  }
  return {};
}

// The first item of the identities that differs.
std::string difference(std::string_view found, std::string_view expected) {
  const std::vector<std::string_view> a = split(found, '\n');
  const std::vector<std::string_view> b = split(expected, '\n');
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string_view in_file = i < a.size() ? a[i] : "";
    const std::string_view now = i < b.size() ? b[i] : "";
    if (in_file != now) return "found " + shown(in_file) + ", expected " + shown(now);
  }
  return "";
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string unfinished_path(const std::string& results, std::string_view command) {
  const std::string digits = hexadecimal(XXH3_64bits(command.data(), command.size()));
  return results + ".unfinished-" + digits.substr(digits.size() - 8);
}

UnfinishedFile::UnfinishedFile(Key /*key*/, std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

UnfinishedFile::~UnfinishedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<UnfinishedFile>> UnfinishedFile::open(const std::string& path,
                                                             std::string_view identity,
                                                             EarlierParts earlier) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) return system_error("write", path);
  auto file = std::make_unique<UnfinishedFile>(Key(), path, descriptor);
  if (auto read = file->read(identity, earlier); !read) return read.error();
  return file;
}

Result<void> UnfinishedFile::read(std::string_view identity, EarlierParts earlier) {
  Result<MappedFile> mapped = MappedFile::open(path_);
  if (!mapped) {
    // One that open() has just made is removed.
    if (::lseek(descriptor_, 0, SEEK_END) == 0) ::unlink(path_.c_str());
    return mapped.error();
  }
  const auto parsed = parse_parts(text_of(mapped->bytes()), path_);
  if (!parsed) return parsed.error();
  if (parsed->identity != identity) {
    const std::string other =
        shown(path_) + " keeps " + std::to_string(parsed->parts.size()) +
        " parts of a run with other inputs: " + difference(parsed->identity, identity);
    if (parsed->identity.empty()) {
      dropped_ = parsed->damage;
    } else if (earlier == EarlierParts::used) {
      return malformed(other + "; run without --resume to begin anew");
    } else {
      dropped_ = other;
    }
    return begin(identity);
  }
  mapped_ = std::move(*mapped);
  uses_ = earlier == EarlierParts::used;
  for (const PartRecord& part : parsed->parts)
    parts_.try_emplace(std::string(part.key), part.bytes);
  found_ = parts_.size();
  end_ = parsed->whole_bytes;
  if (parsed->damage.empty()) return {};
  dropped_ = parsed->damage;
  if (::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) return system_error("write", path_);
  return {};
}

Result<void> UnfinishedFile::begin(std::string_view identity) {
  const std::vector<std::byte> bytes = begin_parts(identity);
  Result<void> begun = ::ftruncate(descriptor_, 0) == 0 ? write_all(descriptor_, bytes, 0, path_)
                                                        : system_error("write", path_);
  if (!begun) {
    // No parts will be kept in it.
    ::unlink(path_.c_str());
    return begun;
  }
  end_ = bytes.size();
  return {};
}

std::optional<std::span<const std::byte>> UnfinishedFile::find(const std::string& key) const {
  if (!uses_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto part = parts_.find(key);
  if (part == parts_.end() || part->second.data() == nullptr) return std::nullopt;
  return part->second;
}

void UnfinishedFile::keep(std::vector<KeptPart> parts) {
  // Composed without the lock, so that threads wait for the write only.
  std::size_t size = 0;
  for (const KeptPart& part : parts) size += size_of_record(part);
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const KeptPart& part : parts) append_part(bytes, part);
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  const auto known = [&](const KeptPart& part) { return parts_.contains(part.key); };
  if (std::ranges::all_of(parts, known)) return;
  // Parts are deterministic, so those that the file has already may be in it twice.
  if (auto written = write_all(descriptor_, bytes, end_, path_); !written) {
    return stop(written.error());
  }
  end_ += bytes.size();
  synced_ = false;
  for (KeptPart& part : parts) parts_.try_emplace(std::move(part.key));
}

void UnfinishedFile::stop(const Error& error) {
  ended_ = true;
  failure_ = error.message;
  // Half a record would be dropped by the next reader, with a note that could alarm its user.
  static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(end_)) == 0);
}

std::size_t UnfinishedFile::parts() const {
  const std::lock_guard lock(mutex_);
  return parts_.size();
}

std::string UnfinishedFile::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void UnfinishedFile::sync() {
  {
    const std::lock_guard lock(mutex_);
    if (synced_ || ended_) return;
    synced_ = true;
  }
  // Without the lock: a slow disk must not hold up the threads that compute. An error is ignored,
  // because it threatens parts only if power is lost, too.
  static_cast<void>(::fdatasync(descriptor_) == 0);
}

void UnfinishedFile::remove() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ::unlink(path_.c_str());
}

}  // namespace kv::reports
