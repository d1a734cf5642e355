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
Result<Dump> read_any(std::span<const std::byte> bytes,
                      const DumpOptions& options,
                      TraceOrigin origin) {
  if (is_npy(bytes)) return read_npy_dump(bytes, options, std::move(origin));
  if (is_zip(bytes)) return read_npz_dump(bytes, options, std::move(origin));
  Result<Safetensors> file = parse_safetensors(bytes);
  if (!file) return file.error();
  Result<Trace> trace = read_schema(*file, std::move(origin));
  if (!trace) return trace.error();
  if (options.learned_sinks && !trace->info().learned_sinks) {
    return malformed(
        "the trace does not say 'learned_sinks', but they are given; expected them for "
        "an attention dump");
  }
  if (options.kv_heads == 0 || options.kv_heads == trace->info().kv_heads) {
    return Dump{*std::move(trace), true};
  }
  return malformed("the trace has " + std::to_string(trace->info().kv_heads) + " kv-heads, but " +
                   std::to_string(options.kv_heads) + " are given; expected the same");
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

Result<Dump> open_dump(const std::string& path,
                       const DumpOptions& options,
                       const std::function<void(double share)>& progress) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  const auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  Result<Dump> dump = read_any(file->bytes(), options, {file_name(path), file});
  if (!dump) return Error{dump.error().kind, "'" + path + "': " + dump.error().message};
  const std::uint64_t checksum = kept_checksum_of(*file, path, progress);
  dump->trace.read_from(checksum, [=] { return check_unchanged(*file, path, checksum); });
  return dump;
}

Result<Trace> open_trace(const std::string& path,
                         const std::function<void(double share)>& progress) {
  Result<Dump> dump = open_dump(path, {}, progress);
  if (!dump) return dump.error();
  return std::move(dump->trace);
}

}  // namespace kv
