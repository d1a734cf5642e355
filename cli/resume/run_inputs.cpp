#include "kvcheck/cli/resume/run_inputs.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/cli/options/load.h"

namespace kv::cli {
namespace {

// Whether a file of a model's folder decides what the model computes. The tokenizer is not among
// them: a run names the tokens that it made.
bool decides(std::string_view name) {
  return name == "config.json" || name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json");
}

}  // namespace

std::string input_item(std::string_view kind, std::string_view name, std::uint64_t checksum) {
  return std::string(kind) + " '" + printable_line(name) + "': XXH3-64 " + hexadecimal(checksum);
}

Result<std::vector<std::string>> items_of_path(std::string_view kind, const std::string& path) {
  std::error_code failed;
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path, failed)) {
    const auto entries = entries_of(path);
    if (!entries) return entries.error();
    for (const FolderEntry& entry : *entries) {
      if (decides(entry.name)) files.push_back((std::filesystem::path(path) / entry.name).string());
    }
  } else {
    files.push_back(path);
  }
  std::vector<std::string> items;
  for (const std::string& name : files) {
    const Result<MappedFile> file = MappedFile::open(name);
    if (!file) return file.error();
    items.push_back(
        input_item(kind, name, XXH3_64bits(file->bytes().data(), file->bytes().size())));
  }
  return items;
}

std::uint64_t checksum_of_items(std::span<const std::string> items, std::string_view kind) {
  std::string sums;
  for (const std::string& item : items) {
    if (item.starts_with(std::string(kind) + " '")) sums += item.substr(item.rfind(' '));
  }
  return std::max<std::uint64_t>(1, XXH3_64bits(sums.data(), sums.size()));
}

Result<std::string> identity_of_run(std::string_view command, std::span<const std::string> items) {
  std::string identity = "version " + std::string(version) + "\n" + printable_line(command);
  for (const std::string& item : items) identity += "\n" + item;
  for (const std::string& library : loaded_libraries()) {
    const auto of_library = items_of_path("library", library);
    if (!of_library) return of_library.error();
    for (const std::string& item : *of_library) identity += "\n" + item;
  }
  return identity;
}

}  // namespace kv::cli
