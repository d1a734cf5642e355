#include "kvcheck/traces/files/dump.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/files/archive.h"
#include "kvcheck/traces/files/npy.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t piece = 65536;  // bytes read at a time; a multiple of every number's size

// The array's numbers as f16 or f32, and what keeps them alive.
struct Numbers {
  Number number = Number::f32;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
};

// Makes `bytes` at least `requested` and at most `whole` long. The size at least doubles, so that
// growing piece by piece costs time in proportion to the whole.
Result<void> grow(Bytes& bytes, std::uint64_t requested, std::uint64_t whole) {
  if (requested <= bytes.size()) return {};
  const auto size = static_cast<std::size_t>(
      std::min(whole, std::max<std::uint64_t>(requested, 2 * bytes.size())));
  try {
    // resize() alone could allocate twice as much.
    bytes.reserve(size);
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return io_error("the array needs " + std::to_string(whole) +
                    " bytes of memory, which are not available");
  }
  return {};
}

// Rounds f64 to f32. Both are in the machine's byte order and need not be aligned.
void narrow(std::span<const std::byte> from, std::byte* into) {
  for (std::size_t at = 0; at < from.size(); at += sizeof(double)) {
    double wide = 0;
    std::memcpy(&wide, from.data() + at, sizeof wide);
    const auto value = static_cast<float>(wide);
    std::memcpy(into + at / 2, &value, sizeof value);
  }
}

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

Trace trace_of(const NpyHeader& header, Numbers numbers, TraceOrigin origin) {
  const bool layered = header.shape.size() == 4;
  const std::vector<std::size_t> shape(header.shape.begin() + (layered ? 1 : 0),
                                       header.shape.end());
  TraceInfo info;
  info.name = std::move(origin.name);
  info.number = numbers.number;
  info.query_heads = info.kv_heads = shape[0];
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

// Reads the member's numbers, which begin in `first` (its first bytes, header included).
Result<Numbers> inflate(ArchiveMember& member,
                        const NpyHeader& header,
                        std::span<const std::byte> first) {
  // The size that the archive states is only a claim. Memory beyond eight times the compressed
  // bytes, more than usual data need, is allocated as numbers arrive.
  constexpr std::uint64_t usual_ratio = 8;
  const bool wide = header.type == NpyType::f64;
  const std::uint64_t whole = wide ? header.data_bytes / 2 : header.data_bytes;
  const auto owner = std::make_shared<Bytes>();
  const std::uint64_t likely = std::min(whole, usual_ratio * member.compressed_size());
  if (auto room = grow(*owner, likely, whole); !room) return room.error();

  Bytes buffer(piece);
  std::span<const std::byte> begun = first.subspan(header.data_offset);
  std::uint64_t done = 0;
  while (done < header.data_bytes) {
    const auto requested =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece, header.data_bytes - done));
    const std::size_t have = std::min(requested, begun.size());
    std::ranges::copy(begun.first(have), buffer.begin());
    begun = begun.subspan(have);
    const auto more = member.read(std::span(buffer).subspan(have, requested - have));
    if (!more) return more.error();
    if (have + more.value() != requested) {
      return malformed("member " + shown(member.name()) + " ends after " +
                       std::to_string(done + have + more.value()) + " bytes of numbers; expected " +
                       std::to_string(header.data_bytes));
    }
    const std::uint64_t at = wide ? done / 2 : done;
    if (auto room = grow(*owner, at + (wide ? requested / 2 : requested), whole); !room) {
      return room.error();
    }
    if (wide) {
      narrow(std::span(buffer).first(requested), owner->data() + at);
    } else {
      std::ranges::copy(std::span(buffer).first(requested), owner->data() + at);
    }
    done += requested;
  }
  std::array<std::byte, 1> end{};
  const auto rest = member.read(end);  // at the end libzip compares the checksum
  if (!rest) return rest.error();
  if (rest.value() != 0) {
    return malformed("member " + shown(member.name()) + " is damaged: it continues after the " +
                     std::to_string(member.size()) + " bytes that the archive declares");
  }
  return Numbers{header.type == NpyType::f16 ? Number::f16 : Number::f32, owner->data(), owner};
}

}  // namespace

Result<Trace> read_npy_dump(std::span<const std::byte> bytes, TraceOrigin origin) {
  const Result<NpyHeader> parsed = parse_npy_header(bytes);
  if (!parsed) return parsed.error();
  const NpyHeader& header = parsed.value();
  if (header.data_offset + header.data_bytes != bytes.size()) {
    return malformed("the array has " + std::to_string(bytes.size() - header.data_offset) +
                     " bytes of numbers; expected " + std::to_string(header.data_bytes) + " for " +
                     shown_shape(header.shape));
  }
  if (auto right = check_shape(header.shape); !right) return right.error();
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  Numbers numbers{header.type == NpyType::f16 ? Number::f16 : Number::f32, data.data(),
                  origin.file};
  if (header.type == NpyType::f64) {
    const auto memory = std::make_shared<Bytes>();
    if (auto room = grow(*memory, data.size() / 2, data.size() / 2); !room) return room.error();
    narrow(data, memory->data());
    numbers.data = memory->data();
    numbers.owner = memory;
  }
  return trace_of(header, std::move(numbers), std::move(origin));
}

Result<Trace> read_npz_dump(std::span<const std::byte> bytes, TraceOrigin origin) {
  Result<ArchiveMember> opened = ArchiveMember::open(bytes);
  if (!opened) return opened.error();
  ArchiveMember member = std::move(opened).value();
  const auto begin =
      static_cast<std::size_t>(std::min<std::uint64_t>(member.size(), npy_header_limit + 12));
  Bytes first(begin);
  const auto count = member.read(first);
  if (!count) return count.error();
  first.resize(count.value());
  const Result<NpyHeader> parsed = parse_npy_header(first);
  if (!parsed) return parsed.error();
  const NpyHeader& header = parsed.value();
  if (header.data_offset + header.data_bytes != member.size()) {
    return malformed("member " + shown(member.name()) + " has " + std::to_string(member.size()) +
                     " bytes; expected " + std::to_string(header.data_offset + header.data_bytes) +
                     " for " + shown_shape(header.shape));
  }
  if (auto right = check_shape(header.shape); !right) return right.error();
  Result<Numbers> numbers = inflate(member, header, first);
  if (!numbers) return numbers.error();
  return trace_of(header, std::move(numbers).value(), std::move(origin));
}

}  // namespace kv
