#include "kvcheck/cli/options/load.h"

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>

#include "kvcheck/policies/library.h"
#include "kvcheck/policies/registry/registry.h"

namespace kv::cli {
namespace {

// The function of that name and type, or null.
template <typename Function>
Function* exported(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

std::string last_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "no reason given" : text;
}

Result<void> load(const std::string& path) {
  // A name without a slash would be searched for in the library folders of the system.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    return io_error("--load: '" + path + "' is not a file");
  }
  const std::string file = std::filesystem::absolute(path).string();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return malformed("--load: '" + path + "' cannot be loaded: " + last_error());
  }
  auto* const built = exported<std::uint64_t()>(library, "kvcheck_policy_interface");
  auto* const policies = exported<const PolicyEntry*(std::size_t*)>(library, "kvcheck_policies");
  if (built == nullptr || policies == nullptr) {
    return malformed("--load: '" + path +
                     "' exports no policies; expected KVCHECK_POLICIES(...) in one of its sources");
  }
  if (built() != policy_interface) {
    return malformed("--load: '" + path +
                     "' was compiled against another kvcheck's headers; compile it again");
  }
  std::size_t count = 0;
  const PolicyEntry* const entries = policies(&count);
  if (count == 0) return malformed("--load: '" + path + "' has no policy");
  const Result<void> added = register_policies({entries, count});
  if (added) return {};
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

}  // namespace kv::cli
