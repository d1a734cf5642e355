// Writes a trace file: header first, then the tensors in order, in bounded memory.
//
// The file is what traces/FORMAT.md describes: data from a 64-byte boundary, every tensor on its
// natural alignment, no holes. It appears whole when commit() returns, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/traces/trace.h"

namespace kv {

class Checksum;  // traces/files/checksum.h

// Usage: create, then write() all numbers, then commit(). The numbers are, for each layer of
// info.layers in order,
//   kind attention: attention [query_heads, recorded queries, tokens]
//   kind qkv:       q [query_heads, recorded queries, head_dim], then k and v [kv_heads, tokens,
//                   head_dim]
// row-major, in pieces of any length, which need not end where a tensor ends.
class TraceWriter {
 public:
  // Writes the header. Of `info`, name and checksum are not stored. Requires what open_trace
  // checks: sizes that agree, increasing layers, at least one token; token_ids, text_ends and nll
  // are empty or have one entry per token. Returns an error if the header would be longer than
  // readers accept.
  static Result<TraceWriter> create(const std::string& path,
                                    const TraceInfo& info,
                                    std::span<const std::int32_t> token_ids = {},
                                    const Transcript& transcript = {});

  // Writes no file, but adds what create() and those after it would write to `checksum`.
  static Result<TraceWriter> into(std::shared_ptr<Checksum> checksum,
                                  const TraceInfo& info,
                                  std::span<const std::int32_t> token_ids = {},
                                  const Transcript& transcript = {});

  // Writes the next numbers, rounded to info.number (nearest, ties to even). The error names the
  // first one that is not finite or that info.number cannot hold. Writing more numbers than the
  // layers have fails a KV_CHECK.
  Result<void> write(std::span<const float> values);

  // Requires that all numbers were written.
  Result<void> commit();

 private:
  TraceWriter(const TraceInfo& info, std::string text);

  Result<void> begin(std::span<const std::int32_t> token_ids,
                     const Transcript& transcript,
                     const std::function<Result<void>()>& open);
  Result<void> put(std::span<const std::byte> bytes);
  Result<void> write_piece(std::span<const float> values);
  [[nodiscard]] std::string place_of(std::uint64_t number) const;

  std::optional<AtomicFile> file_;
  std::shared_ptr<Checksum> checksum_;  // in place of the file
  TraceInfo info_;
  std::string text_;           // written last: its length is arbitrary, and numbers must be aligned
  std::uint64_t written_ = 0;  // numbers so far
  std::vector<std::byte> buffer_;
};

// How many numbers all layers of such a trace hold together. Requires that the number of bytes fits
// in 64 bits.
std::uint64_t trace_numbers(const TraceInfo& info);

}  // namespace kv
