#include "kvcheck/cli/resume/run_inputs.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/cli/options/load.h"

namespace kv::cli {
namespace {

// Whether a file of a model's folder decides what the model computes. The tokenizer is not among
// them: a run names the tokens that it made.
bool decides(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name == "config.json" || name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json");
}

}  // namespace

std::string input_item(std::string_view kind, std::string_view name, std::uint64_t checksum) {
  return std::string(kind) + " '" + printable_line(name) + "': XXH3-64 " + hexadecimal(checksum);
}

Result<std::vector<std::string>> items_of_path(std::string_view kind, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<std::string> files;
  if (fs::is_directory(path, failed)) {
    for (fs::directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
      if (decides(at->path())) files.push_back(at->path().string());
    }
    if (failed) return io_error("cannot read '" + path + "': " + failed.message());
    std::ranges::sort(files);  // the order of a folder is the file system's
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
