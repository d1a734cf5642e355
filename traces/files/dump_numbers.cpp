#include "kvcheck/traces/files/dump_numbers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

constexpr std::size_t piece = 65536;  // bytes read at a time; a multiple of every number's size

// Makes `bytes` at least `requested` and at most `whole` long. The size at least doubles, so that
// growing piece by piece costs time in proportion to the whole.
Result<void> grow(DumpBytes& bytes, std::uint64_t requested, std::uint64_t whole) {
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

Number number_of(NpyType type) {
  return type == NpyType::f16 ? Number::f16 : Number::f32;
}

}  // namespace

Result<DumpNumbers> mapped_numbers(const NpyHeader& header,
                                   std::span<const std::byte> data,
                                   std::shared_ptr<const void> file) {
  if (header.type != NpyType::f64) {
    return DumpNumbers{number_of(header.type), data.data(), std::move(file)};
  }
  const auto memory = std::make_shared<DumpBytes>();
  if (auto room = grow(*memory, data.size() / 2, data.size() / 2); !room) return room.error();
  narrow(data, memory->data());
  return DumpNumbers{Number::f32, memory->data(), memory};
}

Result<DumpMember> begin_member(ArchiveMember member) {
  const auto begin =
      static_cast<std::size_t>(std::min<std::uint64_t>(member.size(), npy_header_limit + 12));
  DumpBytes first(begin);
  const auto count = member.read(first);
  if (!count) return count.error();
  first.resize(count.value());
  Result<NpyHeader> parsed = parse_npy_header(first);
  if (!parsed) return parsed.error();
  const NpyHeader& header = parsed.value();
  if (header.data_offset + header.data_bytes != member.size()) {
    return malformed("member " + shown(member.name()) + " has " + std::to_string(member.size()) +
                     " bytes; expected " + std::to_string(header.data_offset + header.data_bytes) +
                     " for " + shown_shape(header.shape));
  }
  return DumpMember{std::move(member), std::move(parsed).value(), std::move(first)};
}

Result<DumpNumbers> inflate(DumpMember& begun_member) {
  ArchiveMember& member = begun_member.member;
  const NpyHeader& header = begun_member.header;
  const std::span<const std::byte> first = begun_member.first;
  // The size that the archive states is only a claim. Memory beyond eight times the compressed
  // bytes, more than usual data need, is allocated as numbers arrive.
  constexpr std::uint64_t usual_ratio = 8;
  const bool wide = header.type == NpyType::f64;
  const std::uint64_t whole = wide ? header.data_bytes / 2 : header.data_bytes;
  const auto owner = std::make_shared<DumpBytes>();
  const std::uint64_t likely = std::min(whole, usual_ratio * member.compressed_size());
  if (auto room = grow(*owner, likely, whole); !room) return room.error();

  DumpBytes buffer(piece);
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
  return DumpNumbers{number_of(header.type), owner->data(), owner};
}

}  // namespace kv
