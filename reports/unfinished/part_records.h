// The format of a file of finished parts (reports/SCHEMA.md): a mark, then records that are only
// ever appended.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"

namespace kv::reports {

// The first bytes of every such file. The number is the version of the format.
inline constexpr std::string_view parts_mark = "kvcheck unfinished run, format 1\n";

// The longest key.
inline constexpr std::size_t longest_key = 4096;

// One record: a view of the bytes that were parsed.
struct PartRecord {
  std::string_view key;
  std::span<const std::byte> bytes;
};

struct ParsedParts {
  // What decides the numbers of the run, as the first record says; empty if that one is not whole,
  // and then there are no parts.
  std::string_view identity;
  std::vector<PartRecord> parts;  // in the order of the file

  // The number of bytes of the mark and of the records up to the first that is not whole. A kill
  // during a write leaves such a record at the end; nothing that follows one is read.
  std::size_t whole_bytes = 0;

  // What is wrong with the bytes that follow, as one sentence that names path, offset, what was
  // found and what was expected; empty if nothing follows.
  std::string damage;
};

// Reads the bytes of a file; `path` is for messages. It accepts any bytes, and allocates in
// proportion to their number. Errors: a file that does not begin with the mark, as far as it has
// bytes. Cost: one pass.
Result<ParsedParts> parse_parts(std::string_view bytes, const std::string& path);

// The mark and the first record.
std::vector<std::byte> begin_parts(std::string_view identity);

// How many bytes append_part appends.
std::size_t size_of_record(const KeptPart& part);

// Appends the part as a record. Requires a key of at most longest_key bytes.
void append_part(std::vector<std::byte>& bytes, const KeptPart& part);

}  // namespace kv::reports
