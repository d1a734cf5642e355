#include "kvcheck/cli/options/load.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/policies/library.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/cases/child.h"

namespace kv::cli {
namespace {

// The function of that name and type, or null.
template <typename Function>
Function* exported(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

std::vector<std::string>& library_files() {
  static std::vector<std::string> files;
  return files;
}

std::string last_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "no reason given" : text;
}

// Error if the file ends before a segment that its ELF header promises. The loader maps segments
// without reading them, so that the program would die where it first needs what is not there.
Result<void> check_whole(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const std::span<const std::byte> bytes = file->bytes();
  Elf64_Ehdr header{};
  const auto missing = [&](std::uint64_t end) {
    return malformed("--load: '" + path + "' has " + std::to_string(bytes.size()) +
                     " bytes; expected " + std::to_string(end) + " or more, as it is cut off");
  };
  if (bytes.size() < sizeof header) return {};  // the loader says what it misses
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > bytes.size() || bytes.size() - at < sizeof segment) return missing(at);
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    if (segment.p_type == PT_LOAD && end > bytes.size()) return missing(end);
  }
  return {};
}

// What a library exports; null where it does not.
struct Exported {
  std::uint64_t (*built)() = nullptr;
  const PolicyEntry* (*policies)(std::size_t* count) = nullptr;
};

// Nothing if the file cannot be loaded.
std::optional<Exported> opened(const std::string& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  return Exported{exported<std::uint64_t()>(library, "kvcheck_policy_interface"),
                  exported<const PolicyEntry*(std::size_t*)>(library, "kvcheck_policies")};
}

// How a process ends that loads the file, if it does not live on. A damaged library kills its
// loader, which says nothing.
std::string death_of_loader(const std::string& file) {
  try {
    return properties::run_in_child([&] { opened(file); }, nullptr);
  } catch (const std::exception&) {
    return "";  // no process can be made to try it in
  }
}

Result<void> load(const std::string& path) {
  // A name without a slash would be searched for in the library folders of the system.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    return io_error("--load: '" + path + "' is not a file");
  }
  if (path.ends_with(".py")) {
    return usage_error("--load: '" + path + "' is a Python file; expected a shared library, or " +
                       "python3 -m kvcheck --load " + path + ", which runs it");
  }
  const std::string file = std::filesystem::absolute(path).string();
  if (Result<void> whole = check_whole(path); !whole) return whole;
  if (const std::string death = death_of_loader(file); !death.empty()) {
    // "it died of signal 7 (Bus error)"
    return malformed("--load: '" + path + "' cannot be loaded: the process that tried " +
                     death.substr(death.find(' ') + 1) + "; expected a whole shared library");
  }
  const std::optional<Exported> library = opened(file);
  if (!library) return malformed("--load: '" + path + "' cannot be loaded: " + last_error());
  if (library->built == nullptr || library->policies == nullptr) {
    return malformed("--load: '" + path +
                     "' exports no policies; expected KVCHECK_POLICIES(...) in one of its sources");
  }
  if (library->built() != policy_interface) {
    return malformed("--load: '" + path +
                     "' was compiled against another kvcheck's headers; compile it again");
  }
  std::size_t count = 0;
  const PolicyEntry* const entries = library->policies(&count);
  if (count == 0) return malformed("--load: '" + path + "' has no policy");
  const Result<void> added = register_policies({entries, count});
  if (added) {
    library_files().push_back(file);
    return {};
  }
  return malformed("--load: '" + path + "': " + added.error().message);
}

}  // namespace

Result<std::size_t> load_policies(std::span<const std::string> arguments) {
  constexpr std::string_view joined = "--load=";
  std::size_t at = 0;
  while (at < arguments.size() &&
         (arguments[at] == "--load" || arguments[at].starts_with(joined))) {
    std::string path;
    if (arguments[at] == "--load") {
      if (++at == arguments.size()) return usage_error("--load needs the name of a shared library");
      path = arguments[at++];
    } else {
      path = arguments[at++].substr(joined.size());
    }
    if (const Result<void> loaded = load(path); !loaded) return loaded.error();
  }
  return at;
}

std::span<const std::string> loaded_libraries() {
  return library_files();
}

}  // namespace kv::cli
