#include "kvcheck/model/run/pass_file.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "kvcheck/model/run/number_sum.h"

namespace kv::model {
namespace {

constexpr std::uint64_t mark = 0x3273736170766bU;  // "kvpass2" in ASCII
constexpr std::uint64_t note_numbers = 1024;       // a page, so that states are aligned

// The note as the file holds it, whose numbers are those of the machine: no other continues it.
struct Note {
  std::uint64_t mark;
  std::uint64_t identity;
  std::uint64_t layer;   // of the place
  std::uint64_t tokens;  // of the place
  std::uint64_t before;  // sums, as PassFile::Sums has them
  std::uint64_t states;
  std::uint64_t losses;
  std::uint64_t recorded;  // the spool's sum
  std::uint64_t checksum;  // of all others
};

std::uint64_t checksum_of(const Note& note) {
  return XXH3_64bits(&note, offsetof(Note, checksum));
}

using NoteAsNumbers = std::array<float, sizeof(Note) / sizeof(float)>;

}  // namespace

Result<PassFile> PassFile::open(const std::string& path,
                                const std::string& identity,
                                const PassSizes& sizes) {
  const bool kept = !identity.empty();
  Result<Spool> spool = kept ? Spool::open_named(path + ".unfinished") : Spool::create(path);
  if (!spool) return spool.error();
  PassFile file(*std::move(spool), sizes, XXH3_64bits(identity.data(), identity.size()), kept);
  file.spool_.count(file.recorded(), 0);
  if (kept) {
    if (Result<void> read = file.continue_noted(path + ".unfinished"); !read) return read.error();
  }
  return file;
}

Result<void> PassFile::continue_noted(const std::string& path) {
  NoteAsNumbers numbers{};
  if (Result<void> read = spool_.get(0, numbers); !read) return read;
  const Note note = std::bit_cast<Note>(numbers);
  const bool whole = note.mark == mark && note.checksum == checksum_of(note);
  // It may be hours of work.
  if (whole && note.identity != identity_) {
    return usage_error("'" + path +
                       "' holds an interrupted recording by another command, or of another text or "
                       "model; expected the command that began it, or that file removed");
  }
  if (!whole) return spool_.clear();
  found_ = {static_cast<std::size_t>(note.layer), static_cast<std::size_t>(note.tokens)};
  put_ = {note.before, note.states, note.losses};
  spool_.count(recorded(), note.recorded);
  return {};
}

Result<void> PassFile::note(const PassPlace& place) {
  if (!kept_) return {};
  // In this order, so that a note never tells of numbers that are not on the disk.
  if (Result<void> done = spool_.sync(); !done) return done;
  Note note{.mark = mark,
            .identity = identity_,
            .layer = place.layer,
            .tokens = place.tokens,
            .before = put_.before,
            .states = put_.states,
            .losses = put_.losses,
            .recorded = spool_.sum(),
            .checksum = 0};
  note.checksum = checksum_of(note);
  return spool_.put(0, std::bit_cast<NoteAsNumbers>(note));
}

Result<void> PassFile::check(std::uint64_t sum, std::uint64_t put) const {
  return sum == put ? Result<void>() : spool_.damaged();
}

Result<void> PassFile::check_before(std::size_t layer) const {
  if (layer == 0) return {};
  std::vector<float> some(std::size_t{1} << 16);
  const std::uint64_t total = std::uint64_t{sizes_.tokens} * sizes_.width;
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < total; at += some.size()) {
    some.resize(std::min<std::uint64_t>(some.size(), total - at));
    if (Result<void> got = spool_.get(states_at(layer - 1, 0) + at, some); !got) return got;
    sum += sum_of_numbers(at, some);
  }
  return check(sum, put_.before);
}

std::uint64_t PassFile::states_at(std::size_t layer, std::size_t first) const {
  const std::uint64_t one = std::uint64_t{sizes_.tokens} * sizes_.width;
  return note_numbers + (layer % 2) * one + std::uint64_t{first} * sizes_.width;
}

Result<void> PassFile::put_states(std::size_t layer,
                                  std::size_t first,
                                  std::span<const float> states) {
  put_.states += sum_of_numbers(std::uint64_t{first} * sizes_.width, states);
  return spool_.put(states_at(layer, first), states);
}

Result<void> PassFile::get_states(std::size_t layer,
                                  std::size_t first,
                                  std::span<float> states) const {
  return spool_.get(states_at(layer, first), states);
}

Result<void> PassFile::put_losses(std::size_t first, std::span<const float> losses) {
  put_.losses += sum_of_numbers(first, losses);
  return spool_.put(states_at(0, 2 * sizes_.tokens) + first, losses);
}

Result<void> PassFile::get_losses(std::span<float> losses) const {
  if (Result<void> got = spool_.get(states_at(0, 2 * sizes_.tokens), losses); !got) return got;
  return check(sum_of_numbers(0, losses), put_.losses);
}

std::uint64_t PassFile::recorded() const {
  return states_at(0, 2 * sizes_.tokens) + sizes_.tokens;
}

}  // namespace kv::model
