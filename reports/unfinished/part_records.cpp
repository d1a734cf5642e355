#include "kvcheck/reports/unfinished/part_records.h"

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/describe.h"

namespace kv::reports {
namespace {

// A record is a checksum of all that follows it, the lengths of the key and of the bytes, and these
// two. All numbers are little-endian, as on every supported machine.
constexpr std::size_t lengths_at = sizeof(std::uint64_t);
constexpr std::size_t key_at = lengths_at + sizeof(std::uint32_t) + sizeof(std::uint64_t);

constexpr std::string_view identity_key = "run";

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename T>
void put(std::vector<std::byte>& bytes, T value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void append_record(std::vector<std::byte>& bytes,
                   std::string_view key,
                   std::span<const std::byte> content) {
  KV_CHECK(key.size() <= longest_key);
  const std::size_t begin = bytes.size();
  put(bytes, std::uint64_t{0});  // the checksum's place
  put(bytes, static_cast<std::uint32_t>(key.size()));
  put(bytes, static_cast<std::uint64_t>(content.size()));
  const auto letters = std::as_bytes(std::span(key));
  bytes.insert(bytes.end(), letters.begin(), letters.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  const std::byte* const from = bytes.data() + begin + lengths_at;
  const std::uint64_t sum = XXH3_64bits(from, bytes.size() - begin - lengths_at);
  std::memcpy(bytes.data() + begin, &sum, sizeof sum);
}

// Reads the record at the begin of `rest`. Returns its length, or 0 and what is wrong.
std::size_t read_record(std::string_view rest, PartRecord& record, std::string& wrong) {
  if (rest.size() < key_at) {
    wrong = "found " + std::to_string(rest.size()) + " bytes, expected the " +
            std::to_string(key_at) + " of a record's head";
    return 0;
  }
  const auto key = number_at<std::uint32_t>(rest, lengths_at);
  const auto content = number_at<std::uint64_t>(rest, lengths_at + sizeof(std::uint32_t));
  const std::size_t room = rest.size() - key_at;
  // Each is compared alone, because a sum of lengths from a file can wrap around.
  if (key > longest_key || key > room || content > room - key) {
    wrong = "found a key of " + std::to_string(key) + " and a part of " + std::to_string(content) +
            " bytes, expected at most " + std::to_string(longest_key) + " and " +
            std::to_string(room) + " in all";
    return 0;
  }
  const std::size_t size = key_at + key + static_cast<std::size_t>(content);
  const auto expected = number_at<std::uint64_t>(rest, 0);
  const std::uint64_t found = XXH3_64bits(rest.data() + lengths_at, size - lengths_at);
  if (found != expected) {
    wrong = "found bytes with the checksum " + std::to_string(found) + ", expected " +
            std::to_string(expected);
    return 0;
  }
  record.key = rest.substr(key_at, key);
  record.bytes = std::as_bytes(std::span(rest.substr(key_at + key, content)));
  return size;
}

}  // namespace

Result<ParsedParts> parse_parts(std::string_view bytes, const std::string& path) {
  ParsedParts parsed;
  const std::string_view begin = bytes.substr(0, parts_mark.size());
  if (begin != parts_mark.substr(0, begin.size())) {
    return malformed(shown(path) + " is not a list of finished parts: at offset 0 found " +
                     shown(begin) + ", expected " + shown(parts_mark));
  }
  if (begin.size() < parts_mark.size()) {
    if (!begin.empty()) parsed.damage = shown(path) + " ends within its first line";
    return parsed;
  }
  std::size_t at = parts_mark.size();
  while (at < bytes.size()) {
    PartRecord record;
    std::string wrong;
    const std::size_t size = read_record(bytes.substr(at), record, wrong);
    const bool first = at == parts_mark.size();
    if (size > 0 && first && (record.key != identity_key || record.bytes.empty())) {
      wrong = "found a record " + shown(record.key) + ", expected '" + std::string(identity_key) +
              "' with what identifies the run";
    }
    if (!wrong.empty()) {
      parsed.damage = shown(path) + ", offset " + std::to_string(at) + ": " + wrong;
      break;
    }
    if (first) {
      parsed.identity = {reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()};
    } else {
      parsed.parts.push_back(record);
    }
    at += size;
    parsed.whole_bytes = at;
  }
  return parsed;
}

std::vector<std::byte> begin_parts(std::string_view identity) {
  const auto mark = std::as_bytes(std::span(parts_mark));
  std::vector<std::byte> bytes(mark.begin(), mark.end());
  append_record(bytes, identity_key, std::as_bytes(std::span(identity)));
  return bytes;
}

std::size_t size_of_record(const KeptPart& part) {
  return key_at + part.key.size() + part.bytes.size();
}

void append_part(std::vector<std::byte>& bytes, const KeptPart& part) {
  append_record(bytes, part.key, part.bytes);
}

}  // namespace kv::reports
