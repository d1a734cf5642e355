// A folder that appears whole or not at all.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv {

// A new folder beside the target. commit() or replace() moves it to the target; without them the
// destructor removes it. What a killed process left is removed by the next one with the same
// target: a folder whose writer lives is locked.
class NewFolder {
 public:
  // Makes the folder, and those above the target. Errors name the target and the reason.
  static Result<NewFolder> create(const std::string& target);

  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  NewFolder(NewFolder&& other) noexcept;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder();

  // The folder to write to.
  [[nodiscard]] const std::string& path() const { return temporary_; }

  // Moves the folder to the target, where nothing or an empty folder is. Error: something else is
  // there by now. Then the folder is kept beside it, under a name that the error has.
  Result<void> commit();

  // Moves the folder to the target and removes the folder that is there.
  Result<void> replace();

  // The text with every path() replaced by the target as the user named it, for messages.
  [[nodiscard]] std::string about_target(std::string text) const;

 private:
  NewFolder(std::string named, std::string target, std::string temporary, int lock);

  std::string named_;      // as create() got it
  std::string target_;     // the same, absolute
  std::string temporary_;  // empty once it is the target
  int lock_ = -1;          // the open folder, whose lock says that its writer lives
};

}  // namespace kv
