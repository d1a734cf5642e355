#include "kvcheck/traces/files/checksum.h"

#define XXH_STATIC_LINKING_ONLY  // for the size of its state
#include <xxhash.h>

// The library for x86 computes with AVX-512 or AVX2 where its functions are reached through this
// header, and with SSE2 otherwise.
#if __has_include(<xxh_x86dispatch.h>) && defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

constexpr std::string_view method = "XXH3-64 ";
constexpr std::size_t digits = 16;

std::optional<std::uint64_t> kept(const std::string& path, const FileStamp& stamp) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return {};
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < method.size() + digits || !text.starts_with(method)) return {};
  if (text.substr(method.size() + digits) != stamp_text(stamp) + "\n") return {};
  std::uint64_t checksum = 0;
  const char* const begin = text.data() + method.size();
  const auto [end, failed] = std::from_chars(begin, begin + digits, checksum, 16);
  if (failed != std::errc() || end != begin + digits) return {};
  return checksum;
}

}  // namespace

Checksum::Checksum() : state_(std::make_shared<XXH3_state_s>()) {
  XXH3_64bits_reset(state_.get());
}

void Checksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const {
  return XXH3_64bits_digest(state_.get());
}

std::string stamp_text(const FileStamp& stamp) {
  return " of " + std::to_string(stamp.size) + " bytes, inode " + std::to_string(stamp.inode) +
         ", modified " + std::to_string(stamp.modified) + ", changed " +
         std::to_string(stamp.changed);
}

std::uint64_t checksum_of(const MappedFile& file, const HashProgress& progress) {
  constexpr std::size_t piece = std::size_t{64} << 20;
  Checksum checksum;
  const std::span<const std::byte> bytes = file.bytes();
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (progress) progress(static_cast<double>(at) / static_cast<double>(bytes.size()));
    checksum.add(bytes.subspan(at, std::min(piece, bytes.size() - at)));
  }
  return checksum.value();
}

std::uint64_t kept_checksum_of(const MappedFile& file,
                               const std::string& path,
                               const HashProgress& progress,
                               std::uint64_t smallest) {
  if (file.bytes().size() < smallest) return checksum_of(file, progress);
  const std::string beside = path + ".xxh3";
  if (const auto checksum = kept(beside, file.stamp())) return *checksum;
  const std::uint64_t checksum = checksum_of(file, progress);
  // A file that changed meanwhile has another state by now, or the next reader finds that it has.
  // If the folder cannot be written, the file is read again the next time.
  if (file.unchanged()) {
    static_cast<void>(write_file(
        beside, std::string(method) + hexadecimal(checksum) + stamp_text(file.stamp()) + "\n"));
  }
  return checksum;
}

}  // namespace kv
