#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "kvcheck/base/check.h"
#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/reports/unfinished/part_records.h"
#include "kvcheck/reports/unfinished/unfinished_file.h"

namespace kv::fuzz {
namespace {

// Numbers that are not whole are refused, and no vector outgrows its bytes.
void read_numbers(std::span<const std::byte> bytes) {
  PackedReader reader(bytes);
  std::vector<std::uint32_t> numbers;
  reader.numbers(numbers);
  KV_CHECK(numbers.size() <= bytes.size());
  reader.real();
  reader.bits();
  if (!reader.whole()) return;
  PackedReader again(bytes);
  again.numbers(numbers);
}

std::string text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// Changed bytes alone would never have a right checksum, so the first two records are right.
bool finished_parts(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 3);
  const std::string key(parts[0].substr(0, reports::longest_key));
  const auto content = std::as_bytes(std::span(parts[1]));
  std::vector<std::byte> bytes = reports::begin_parts("identity");
  reports::append_part(bytes, {key, {content.begin(), content.end()}});
  const std::string whole = text_of_bytes(bytes) + std::string(parts[2]);

  const std::string path = scratch_file("run.db.unfinished", whole);
  const auto parsed = reports::parse_parts(whole, path);
  KV_CHECK(parsed.has_value() && parsed->identity == "identity" && !parsed->parts.empty());
  KV_CHECK(parsed->parts[0].key == key && std::ranges::equal(parsed->parts[0].bytes, content));
  KV_CHECK(parsed->damage.empty() == (parsed->whole_bytes == whole.size()));
  for (const reports::PartRecord& part : parsed->parts) read_numbers(part.bytes);

  {
    const auto file = reports::UnfinishedFile::open(path, "identity", reports::EarlierParts::used);
    KV_CHECK(file.has_value() && (*file)->find(key).has_value());
    (*file)->keep({{key + "+", {}}});
    KV_CHECK((*file)->failure().empty());
  }
  const auto again = reports::parse_parts(bytes_of(path), path);
  KV_CHECK(again.has_value() && again->damage.empty());

  const auto alone = reports::parse_parts(parts[2], path);
  if (!alone) return refused(alone.error());
  return parsed->damage.empty();
}

}  // namespace kv::fuzz
