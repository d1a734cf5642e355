#include "kvcheck/traces/files/dump.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/files/archive.h"
#include "kvcheck/traces/files/dump_numbers.h"
#include "kvcheck/traces/files/npy.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

Result<void> check_shape(const std::vector<std::size_t>& shape) {
  const std::string found = "the array has shape " + shown_shape(shape);
  // Model libraries return a batch axis between layers and heads, so this mistake has advice of its
  // own.
  if (shape.size() == 5) {
    return malformed(found +
                     "; expected [layers, heads, queries, keys] without a batch axis, "
                     "which array[:, 0] drops");
  }
  if (shape.size() != 3 && shape.size() != 4) {
    return malformed(found + "; expected [layers, heads, queries, keys] or [heads, queries, keys]");
  }
  const std::size_t n = shape.back();
  if (shape[shape.size() - 2] != n) {
    return malformed(found +
                     "; expected as many queries as keys, from one pass over the text "
                     "without a cache");
  }
  if (n == 0 || n > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    return malformed(found + "; expected 1 to 2147483647 tokens");
  }
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    if (shape[i] == 0 || shape[i] > largest_dimension) {
      return malformed(found + "; expected 1 to " + std::to_string(largest_dimension) +
                       " layers and heads");
    }
  }
  return {};
}

// The kv-heads that the caller and the file give, which must agree; the query heads if neither
// gives a number.
Result<std::size_t> kv_heads_of(std::size_t heads, std::size_t given, std::size_t stored) {
  if (given > 0 && stored > 0 && given != stored) {
    return malformed("the file has kv_heads " + std::to_string(stored) + ", but " +
                     std::to_string(given) + " kv-heads are given; expected the same");
  }
  const std::size_t kv_heads = given > 0 ? given : stored > 0 ? stored : heads;
  if (heads % kv_heads == 0) return kv_heads;
  return malformed("the array has " + std::to_string(heads) + " heads, which " +
                   std::to_string(kv_heads) + " kv-heads cannot share evenly; expected a divisor");
}

Trace trace_of(const NpyHeader& header,
               DumpNumbers numbers,
               const DumpOptions& known,
               TraceOrigin origin) {
  const bool layered = header.shape.size() == 4;
  const std::vector<std::size_t> shape(header.shape.begin() + (layered ? 1 : 0),
                                       header.shape.end());
  TraceInfo info;
  info.name = std::move(origin.name);
  info.number = numbers.number;
  info.query_heads = shape[0];
  info.kv_heads = known.kv_heads;
  info.learned_sinks = known.learned_sinks;
  info.tokens = shape[1];
  std::vector<Trace::Layer> layers(layered ? header.shape[0] : 1);
  const std::byte* data = numbers.data;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    info.layers.push_back(i);
    layers[i].attention = {numbers.number, shape, data};
    data += layers[i].attention.numbers() * layers[i].attention.bytes_per_number();
  }
  return Trace(std::move(info), std::move(layers), {}, std::move(numbers.owner));
}

// The number in that member, an integer that numpy.savez writes; nothing without the member.
Result<std::optional<std::size_t>> stored_number(std::span<const std::byte> bytes,
                                                 const std::string& name,
                                                 std::size_t least,
                                                 std::size_t most) {
  Result<std::optional<ArchiveMember>> found = ArchiveMember::open_named(bytes, name);
  if (!found) return found.error();
  if (!*found) return std::optional<std::size_t>();
  ArchiveMember& member = **found;
  DumpBytes content(
      static_cast<std::size_t>(std::min<std::uint64_t>(member.size(), npy_header_limit + 64)));
  const auto count = member.read(content);
  if (!count) return count.error();
  content.resize(count.value());
  const Result<std::uint64_t> number = parse_npy_count(content);
  if (!number)
    return Error{number.error().kind, "member '" + name + "': " + number.error().message};
  if (*number >= least && *number <= most) return std::optional(static_cast<std::size_t>(*number));
  return malformed("member '" + name + "' holds " + std::to_string(*number) + "; expected " +
                   std::to_string(least) + " to " + std::to_string(most));
}

// What an archive says beside its array.
Result<DumpOptions> stored_options(std::span<const std::byte> bytes) {
  const auto kv_heads = stored_number(bytes, "kv_heads.npy", 1, largest_dimension);
  if (!kv_heads) return kv_heads.error();
  const auto sinks = stored_number(bytes, "learned_sinks.npy", 0, 1);
  if (!sinks) return sinks.error();
  return DumpOptions{kv_heads->value_or(0), sinks->value_or(0) == 1};
}

Result<Dump> dump_of(const NpyHeader& header,
                     DumpNumbers numbers,
                     const DumpOptions& stored,
                     const DumpOptions& options,
                     TraceOrigin origin) {
  const std::size_t heads = header.shape[header.shape.size() - 3];
  const auto kv_heads = kv_heads_of(heads, options.kv_heads, stored.kv_heads);
  if (!kv_heads) return kv_heads.error();
  const DumpOptions known{*kv_heads, options.learned_sinks || stored.learned_sinks};
  return Dump{trace_of(header, std::move(numbers), known, std::move(origin)),
              options.kv_heads > 0 || stored.kv_heads > 0};
}

}  // namespace

Result<Dump> read_npy_dump(std::span<const std::byte> bytes,
                           const DumpOptions& options,
                           TraceOrigin origin) {
  const Result<NpyHeader> parsed = parse_npy_header(bytes);
  if (!parsed) return parsed.error();
  const NpyHeader& header = parsed.value();
  if (header.data_offset + header.data_bytes != bytes.size()) {
    return malformed("the array has " + std::to_string(bytes.size() - header.data_offset) +
                     " bytes of numbers; expected " + std::to_string(header.data_bytes) + " for " +
                     shown_shape(header.shape));
  }
  if (auto right = check_shape(header.shape); !right) return right.error();
  auto numbers = mapped_numbers(header, bytes.subspan(header.data_offset), origin.file);
  if (!numbers) return numbers.error();
  return dump_of(header, *std::move(numbers), {}, options, std::move(origin));
}

Result<Dump> read_npz_dump(std::span<const std::byte> bytes,
                           const DumpOptions& options,
                           TraceOrigin origin) {
  const Result<DumpOptions> stored = stored_options(bytes);
  if (!stored) return stored.error();
  Result<std::optional<DumpArray>> steps = read_npz_steps(bytes);
  if (!steps) return steps.error();
  if (*steps) {
    DumpArray& array = **steps;
    if (auto right = check_shape(array.header.shape); !right) return right.error();
    return dump_of(array.header, std::move(array.numbers), *stored, options, std::move(origin));
  }
  Result<ArchiveMember> opened = ArchiveMember::open(bytes);
  if (!opened) return opened.error();
  Result<DumpMember> begun = begin_member(*std::move(opened));
  if (!begun) return begun.error();
  if (auto right = check_shape(begun->header.shape); !right) return right.error();
  Result<DumpNumbers> numbers = inflate(*begun);
  if (!numbers) return numbers.error();
  return dump_of(begun->header, *std::move(numbers), *stored, options, std::move(origin));
}

}  // namespace kv
