// Folders: what is in them, and their removal. Both do their work where std::filesystem ends the
// program: its iterators and remove_all() may not throw, so they abort if memory runs out.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

struct FolderEntry {
  std::string name;        // without the folder's path
  bool is_folder = false;  // false of a symbolic link, wherever it leads

  bool operator==(const FolderEntry&) const = default;
};

// What is in the folder, sorted by name. Errors name the folder and the reason.
Result<std::vector<FolderEntry>> entries_of(const std::string& folder);

// Removes the folder with all that is in it, as far as it can be removed; symbolic links are not
// followed. Allocates nothing and reports nothing, so that a destructor may call it.
void remove_folder(const char* path) noexcept;

}  // namespace kv
