#include <string>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/files/npy.h"

namespace kv::fuzz {

bool npy(Input input) {
  const Result<NpyHeader> header = parse_npy_header(input);
  if (!header) return refused(header.error());
  KV_CHECK(is_npy(input) && header->data_offset <= npy_header_limit + 12);
  std::uint64_t bytes = npy_bytes(header->type);
  for (const std::size_t length : header->shape) bytes *= length;
  KV_CHECK(header->data_bytes == bytes);
  const Result<Trace> opened = open_trace(scratch_file("dump.npy", text_of(input)));
  if (!opened) return refused(opened.error());
  try_trace(*opened);
  return true;
}

bool npz(Input input) {
  const std::string path = scratch_file("dump.npz", text_of(input));
  const Result<Trace> opened = open_trace(path);
  if (!opened) return refused(opened.error());
  try_trace(*opened);
  // Any number of kv-heads divides the query heads or is refused.
  const Result<Dump> grouped = open_dump(path, {.kv_heads = 2});
  if (!grouped) return refused(grouped.error());
  KV_CHECK(grouped->kv_heads_known && grouped->trace.info().kv_heads == 2);
  return true;
}

}  // namespace kv::fuzz
