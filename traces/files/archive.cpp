#include "kvcheck/traces/files/archive.h"

#include <zip.h>

#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

using Archive = std::unique_ptr<zip_t, Discard>;

Error zip_error(const std::string& what, zip_error_t* error) {
  return malformed(what + " (" + zip_error_strerror(error) + ")");
}

Result<Archive> open_archive(std::span<const std::byte> bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* const archive =
      source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
  // libzip takes over the source only if it opens the archive.
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  const Error failure = zip_error("the .npz archive cannot be read", &error);
  zip_error_fini(&error);
  if (archive == nullptr) return failure;
  return Archive(archive);
}

// The index of the member to read. A single array is read under any name, because numpy.savez names
// an unnamed array arr_0; what is said of it may be beside it.
Result<zip_uint64_t> select(zip_t* archive) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count == 1) return zip_uint64_t{0};
  // With n members beside it, a single array has the index that is missing in their sum.
  zip_int64_t missing = count * (count - 1) / 2;
  zip_int64_t beside = 0;
  for (const char* const name : {"kv_heads.npy", "learned_sinks.npy"}) {
    const zip_int64_t at = zip_name_locate(archive, name, 0);
    if (at < 0) continue;
    missing -= at;
    ++beside;
  }
  if (count <= 3 && beside == count - 1) return static_cast<zip_uint64_t>(missing);
  std::string names;
  for (zip_uint64_t i = 0; std::cmp_less(i, count); ++i) {
    const char* const name = zip_get_name(archive, i, 0);
    if (name == nullptr) continue;
    if (std::string_view(name) == "attention.npy") return i;
    if (i < 8) names += (names.empty() ? "" : ", ") + shown(name);
    if (i == 8) names += ", ...";
  }
  return malformed("the .npz archive has " + std::to_string(count) + " members" +
                   (names.empty() ? "" : " (" + names + ")") +
                   "; expected one named 'attention', or only one");
}

// Runs before anything is allocated. Deflate makes at most 1032 bytes of one, so a member that
// declares more is wrong, and so is one that is longer than the archive.
Result<void> check_member(const zip_stat_t& status, std::size_t archive_bytes) {
  constexpr std::uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((status.valid & needed) != needed) {
    return malformed("the .npz archive does not describe its member");
  }
  const std::string member = "member " + shown(status.name) + " of the .npz archive";
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (!stored && status.comp_method != ZIP_CM_DEFLATE) {
    return Error{Error::Kind::unsupported, member + " is compressed by method " +
                                               std::to_string(status.comp_method) +
                                               "; expected 0 (stored) or 8 (deflated)"};
  }
  if (status.size > archive_member_limit) {
    return malformed(member + " has " + std::to_string(status.size) + " bytes; expected at most " +
                     std::to_string(archive_member_limit) +
                     ", because it must fit in memory (save larger arrays with numpy.save)");
  }
  constexpr std::uint64_t largest_ratio = 1032;
  if (status.comp_size > archive_bytes ||
      status.size > status.comp_size * (stored ? 1 : largest_ratio)) {
    return malformed(member + " claims to make " + std::to_string(status.size) + " bytes of " +
                     std::to_string(status.comp_size) + ", which cannot be");
  }
  return {};
}

}  // namespace

struct ArchiveMember::State {
  Archive archive;
  std::unique_ptr<zip_file_t, Close> file;
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;

  // Opens the member with this index.
  Result<void> begin(zip_uint64_t index, std::size_t archive_bytes);
};

Result<void> ArchiveMember::State::begin(zip_uint64_t index, std::size_t archive_bytes) {
  zip_t* const zip = archive.get();
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat_index(zip, index, 0, &status) != 0) {
    return zip_error("the .npz archive does not describe its member", zip_get_error(zip));
  }
  if (auto right = check_member(status, archive_bytes); !right) return right.error();
  name = status.name;
  size = status.size;
  compressed_size = status.comp_size;
  file.reset(zip_fopen_index(zip, index, 0));
  if (file) return {};
  return zip_error("member " + shown(name) + " of the .npz archive cannot be read",
                   zip_get_error(zip));
}

bool is_zip(std::span<const std::byte> bytes) {
  const auto begins = [&](char third, char fourth) {
    return bytes.size() >= 4 && bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'} &&
           bytes[2] == std::byte(third) && bytes[3] == std::byte(fourth);
  };
  // The mark of a first member, or that of an archive without members, whose own message follows
  // later.
  return begins(3, 4) || begins(5, 6);
}

ArchiveMember::ArchiveMember(std::unique_ptr<State> state) : state_(std::move(state)) {}

ArchiveMember::ArchiveMember(ArchiveMember&&) noexcept = default;
ArchiveMember::~ArchiveMember() = default;

Result<ArchiveMember> ArchiveMember::open(std::span<const std::byte> bytes) {
  auto state = std::make_unique<State>();
  Result<Archive> archive = open_archive(bytes);
  if (!archive) return archive.error();
  state->archive = std::move(archive).value();
  const Result<zip_uint64_t> index = select(state->archive.get());
  if (!index) return index.error();
  if (auto begun = state->begin(*index, bytes.size()); !begun) return begun.error();
  return ArchiveMember(std::move(state));
}

Result<std::optional<ArchiveMember>> ArchiveMember::open_named(std::span<const std::byte> bytes,
                                                               const std::string& name) {
  auto state = std::make_unique<State>();
  Result<Archive> archive = open_archive(bytes);
  if (!archive) return archive.error();
  state->archive = std::move(archive).value();
  const zip_int64_t index = zip_name_locate(state->archive.get(), name.c_str(), 0);
  if (index < 0) return std::optional<ArchiveMember>();
  const auto at = static_cast<zip_uint64_t>(index);
  if (auto begun = state->begin(at, bytes.size()); !begun) return begun.error();
  return std::optional<ArchiveMember>(ArchiveMember(std::move(state)));
}

const std::string& ArchiveMember::name() const {
  return state_->name;
}

std::uint64_t ArchiveMember::size() const {
  return state_->size;
}

std::uint64_t ArchiveMember::compressed_size() const {
  return state_->compressed_size;
}

Result<std::size_t> ArchiveMember::read(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const zip_int64_t count =
        zip_fread(state_->file.get(), into.data() + filled, into.size() - filled);
    if (count < 0) {
      return zip_error("member " + shown(state_->name) + " of the .npz archive is damaged",
                       zip_file_get_error(state_->file.get()));
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

}  // namespace kv
