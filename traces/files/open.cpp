#include "kvcheck/traces/trace.h"

#include <memory>
#include <string_view>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/files/archive.h"
#include "kvcheck/traces/files/checksum.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/files/npy.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/files/schema.h"

namespace kv {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Safetensors files have no magic number, so they are tried last.
Result<Trace> read_any(std::span<const std::byte> bytes, TraceOrigin origin) {
  if (is_npy(bytes)) return read_npy_dump(bytes, std::move(origin));
  if (is_zip(bytes)) return read_npz_dump(bytes, std::move(origin));
  Result<Safetensors> file = parse_safetensors(bytes);
  if (!file) return file.error();
  return read_schema(*file, std::move(origin));
}

Result<void> check_unchanged(const MappedFile& file, const std::string& path, std::uint64_t known) {
  const auto stamp = file.stamp_now();
  if (stamp && stamp->size != file.stamp().size) return file.unchanged();
  // The time alone proves nothing: a file can be touched, or written through a mapping.
  const std::uint64_t now = checksum_of(file);
  if (now == known) return {};
  return malformed("'" + path + "' changed while it was read: its checksum was " +
                   hexadecimal(known) + " and is now " + hexadecimal(now) +
                   "; expected it to remain as it was");
}

}  // namespace

Result<Trace> open_trace(const std::string& path,
                         const std::function<void(double share)>& progress) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  const auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  Result<Trace> trace = read_any(file->bytes(), {file_name(path), file});
  if (!trace) return Error{trace.error().kind, "'" + path + "': " + trace.error().message};
  const std::uint64_t checksum = kept_checksum_of(*file, path, progress);
  trace->read_from(checksum, [=] { return check_unchanged(*file, path, checksum); });
  return trace;
}

}  // namespace kv
