// The finished parts of one run, in a file beside its results file until the run is complete.
//
// Each part is in the file as soon as it is kept: a process that is killed loses nothing of it, and
// a machine that loses power loses what came after the last sync(). A part that was being written
// then has a wrong checksum, and is dropped when the file is opened again.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/base/kept_parts.h"

namespace kv::reports {

// The file's name: that of the results file, and a number that stands for the command, so that the
// unfinished runs of different commands do not meet.
std::string unfinished_path(const std::string& results, std::string_view command);

// What to do with the parts that the file holds.
enum class EarlierParts {
  used,  // find() returns them
  kept,  // find() returns nothing, but they remain in the file for a later run
};

class UnfinishedFile final : public PartStore {
  // Only open() can make one.
  class Key {
    friend class UnfinishedFile;
    Key() = default;
  };

 public:
  // Opens the file, or creates it. `identity` is everything that decides the numbers of the run,
  // one item a line. What an interrupted write left at the end is removed. The file of another
  // identity is an error if its parts are to be used, and else begun anew. Errors: that one, as a
  // sentence that names the first item that differs; not a file of parts; no permission. Requires
  // that no other process writes the file (WriteLock on the results file).
  static Result<std::unique_ptr<UnfinishedFile>> open(const std::string& path,
                                                      std::string_view identity,
                                                      EarlierParts earlier);

  UnfinishedFile(Key, std::string path, int descriptor);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() override;

  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override;

  // Appends the parts that the file does not have. The first error ends all keeping.
  void keep(std::vector<KeptPart> parts) override;

  // How many parts the file held when it was opened, and how many it holds now.
  [[nodiscard]] std::size_t found() const { return found_; }

  [[nodiscard]] std::size_t parts() const;

  // What was dropped when the file was opened, as one sentence; empty if nothing was.
  [[nodiscard]] const std::string& dropped() const { return dropped_; }

  // Why parts are no longer kept, for example a full disk; empty if they are.
  [[nodiscard]] std::string failure() const;

  // Asks the system to write all parts to the disk, and waits for it. Any thread may call it.
  void sync();

  // Removes the file, once the run is complete or must not be continued. Parts are no longer kept.
  void remove();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Result<void> read(std::string_view identity, EarlierParts earlier);
  Result<void> begin(std::string_view identity);
  void stop(const Error& error);

  std::string path_;
  int descriptor_ = -1;
  std::optional<MappedFile> mapped_;  // what it held when it was opened
  bool uses_ = false;
  std::size_t found_ = 0;
  std::string dropped_;
  mutable std::mutex mutex_;  // of all below
  // By key: the bytes in mapped_; empty for those that were kept since.
  std::map<std::string, std::span<const std::byte>, std::less<>> parts_;
  std::size_t end_ = 0;  // of the last whole record
  bool synced_ = true;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace kv::reports
