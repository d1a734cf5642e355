#include "kvcheck/model/run/pass_file.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <utility>

namespace kv::model {
namespace {

constexpr std::uint64_t mark = 0x3173736170766bU;  // "kvpass1" in ASCII
constexpr std::uint64_t note_numbers = 1024;       // a page, so that states are aligned

// The note as the file holds it, whose numbers are those of the machine: no other continues it.
using Words = std::array<std::uint64_t, 5>;

std::uint64_t checksum_of(const Words& words) {
  return XXH3_64bits(words.data(), sizeof(std::uint64_t) * (words.size() - 1));
}

using WordsAsNumbers = std::array<float, sizeof(Words) / sizeof(float)>;

}  // namespace

Result<PassFile> PassFile::open(const std::string& path,
                                const std::string& identity,
                                const PassSizes& sizes) {
  const bool kept = !identity.empty();
  Result<Spool> spool = kept ? Spool::open_named(path + ".unfinished") : Spool::create(path);
  if (!spool) return spool.error();
  PassFile file(*std::move(spool), sizes, XXH3_64bits(identity.data(), identity.size()), kept);
  if (kept) {
    if (Result<void> read = file.continue_noted(path + ".unfinished"); !read) return read.error();
  }
  return file;
}

Result<void> PassFile::continue_noted(const std::string& path) {
  WordsAsNumbers numbers{};
  if (Result<void> read = spool_.get(0, numbers); !read) return read;
  const Words words = std::bit_cast<Words>(numbers);
  const bool whole = words[0] == mark && words[4] == checksum_of(words);
  // It may be hours of work.
  if (whole && words[1] != identity_) {
    return usage_error("'" + path +
                       "' holds an interrupted recording by another command, or of another text or "
                       "model; expected the command that began it, or that file removed");
  }
  if (whole) {
    found_ = {static_cast<std::size_t>(words[2]), static_cast<std::size_t>(words[3])};
    return {};
  }
  return spool_.clear();
}

Result<void> PassFile::note(const PassPlace& place) {
  if (!kept_) return {};
  // In this order, so that a note never tells of numbers that are not on the disk.
  if (Result<void> done = spool_.sync(); !done) return done;
  Words words{mark, identity_, place.layer, place.tokens, 0};
  words.back() = checksum_of(words);
  return spool_.put(0, std::bit_cast<WordsAsNumbers>(words));
}

std::uint64_t PassFile::states_at(std::size_t layer, std::size_t first) const {
  const std::uint64_t one = std::uint64_t{sizes_.tokens} * sizes_.width;
  return note_numbers + (layer % 2) * one + std::uint64_t{first} * sizes_.width;
}

Result<void> PassFile::put_states(std::size_t layer,
                                  std::size_t first,
                                  std::span<const float> states) {
  return spool_.put(states_at(layer, first), states);
}

Result<void> PassFile::get_states(std::size_t layer,
                                  std::size_t first,
                                  std::span<float> states) const {
  return spool_.get(states_at(layer, first), states);
}

Result<void> PassFile::put_losses(std::size_t first, std::span<const float> losses) {
  return spool_.put(states_at(0, 2 * sizes_.tokens) + first, losses);
}

Result<void> PassFile::get_losses(std::span<float> losses) const {
  return spool_.get(states_at(0, 2 * sizes_.tokens), losses);
}

std::uint64_t PassFile::recorded() const {
  return states_at(0, 2 * sizes_.tokens) + sizes_.tokens;
}

}  // namespace kv::model
