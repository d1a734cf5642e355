#include "kvcheck/properties/remote/plugin_family.h"

#include <dlfcn.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstring>

#include "kvcheck/properties/cases/requested_sizes.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/plugin_rows.h"
#include "kvcheck/properties/remote/plugin_subject.h"
#include "kvcheck/properties/remote/serve.h"

namespace kv::properties {
namespace {

class PluginFamily final : public Family {
 public:
  explicit PluginFamily(const kvp_plugin& plugin) : plugin_(plugin) {}

  [[nodiscard]] std::string name() const override { return plugin_.name; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    const kvp_setup sizes = setup_for(setup);
    const char* text = plugin_.contract(&sizes);
    if (text == nullptr) {
      return Error{Error::Kind::unsupported, name() + " refuses these sizes"};
    }
    boost::system::error_code failed;
    const boost::json::value value = boost::json::parse(text, failed);
    Complaints complaints{.strict = true, .lines = {}};
    if (failed) complaints.lines.push_back("contract: no JSON (" + failed.message() + ")");
    const Contract contract =
        failed ? Contract{} : read_contract(JsonAt(value, "contract", complaints), setup, name());
    if (complaints.lines.empty()) return contract;
    return malformed(complaints.lines.front());
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return make_plugin_subject(plugin_, setup, *contract(setup), draws);
  }

  [[nodiscard]] bool uses_draws() const override { return (plugin_.flags & KVP_DRAWS) != 0; }

  [[nodiscard]] Setup requested() const override { return first_accepted(*this); }

 private:
  kvp_plugin plugin_;  // its library is never unloaded
};

Error bad_plugin(const std::filesystem::path& library, const std::string& what) {
  return malformed(library.string() + ": " + what);
}

// Fields that an older header did not have are 0.
kvp_plugin as_we_know_it(const kvp_plugin& plugin) {
  kvp_plugin known{};
  std::memcpy(&known, &plugin, std::min<std::size_t>(plugin.size, sizeof known));
  return known;
}

// What a plugin must have.
Result<void> complete(const kvp_plugin* plugin, const std::filesystem::path& library) {
  if (plugin == nullptr) return bad_plugin(library, "kvp_get_plugin gave no plugin");
  constexpr std::size_t first_size = offsetof(kvp_plugin, head_dim);
  if (plugin->size < first_size) {
    return bad_plugin(library, "kvp_plugin.size is " + std::to_string(plugin->size) +
                                   "; version 1 has at least " + std::to_string(first_size));
  }
  const auto lacks = [&](const char* name) {
    return bad_plugin(library, "kvp_plugin." + std::string(name) + " is null");
  };
  if (plugin->name == nullptr) return lacks("name");
  if (plugin->contract == nullptr) return lacks("contract");
  if (plugin->create == nullptr) return lacks("create");
  if (plugin->destroy == nullptr) return lacks("destroy");
  if (plugin->feed == nullptr) return lacks("feed");
  if (plugin->look == nullptr) return lacks("look");
  if (const std::string wrong = wrong_rows(as_we_know_it(*plugin)); !wrong.empty()) {
    return bad_plugin(library, "kvp_plugin: " + wrong);
  }
  return {};
}

template <typename Function>
Function symbol(void* library, const char* name) {
  // POSIX says that this conversion of an object pointer holds.
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Result<std::unique_ptr<Family>> load_plugin(const std::filesystem::path& library) {
  // With a slash in it, so that no other folder is searched.
  const std::string path = std::filesystem::absolute(library).string();
  void* loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return io_error("cannot load the plugin: " + std::string(::dlerror()));
  const auto version = symbol<decltype(&kvp_abi_version)>(loaded, "kvp_abi_version");
  const auto get = symbol<decltype(&kvp_get_plugin)>(loaded, "kvp_get_plugin");
  if (version == nullptr || get == nullptr) {
    return bad_plugin(library, "does not export kvp_abi_version and kvp_get_plugin");
  }
  if (version() != KVP_ABI_VERSION) {
    return bad_plugin(library, "speaks version " + std::to_string(version()) +
                                   " of the interface; expected " +
                                   std::to_string(KVP_ABI_VERSION));
  }
  const kvp_plugin* plugin = get();
  if (const auto whole = complete(plugin, library); !whole) return whole.error();
  return std::make_unique<PluginFamily>(as_we_know_it(*plugin));
}

Result<std::unique_ptr<Family>> make_plugin_family(const std::filesystem::path& library,
                                                   const RemoteOptions& options) {
  const auto serve = [library](int in, int out) {
    serve_family([&] { return load_plugin(library); }, in, out);
  };
  return make_remote_family([serve] { return Child::run_function(serve); }, options);
}

}  // namespace kv::properties
