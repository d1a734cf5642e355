#include "kvcheck/traces/trace.h"

#include <xxhash.h>

#include <memory>
#include <string_view>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/traces/files/archive.h"
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

}  // namespace

std::uint64_t TraceOrigin::checksum() const {
  return XXH3_64bits(file->bytes().data(), file->bytes().size());
}

Result<Trace> open_trace(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  const auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  const std::span<const std::byte> bytes = file->bytes();
  Result<Trace> trace = read_any(bytes, {file_name(path), file});
  if (!trace) return Error{trace.error().kind, "'" + path + "': " + trace.error().message};
  return trace;
}

}  // namespace kv
