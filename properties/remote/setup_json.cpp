// Setups as JSON, as contract_json.h declares them.
#include <array>
#include <utility>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/properties/remote/contract_json.h"

namespace kv::properties {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint32_t Setup::*>, 7> setup_sizes = {{
    {"layers", &Setup::layers},
    {"kv_heads", &Setup::kv_heads},
    {"group", &Setup::group},
    {"sequences", &Setup::sequences},
    {"sinks", &Setup::sinks},
    {"recent", &Setup::recent},
    {"budget", &Setup::budget},
}};

}  // namespace

void set_size(const JsonAt& at, std::string_view name, std::uint32_t& value) {
  if (const auto field = at.find(name)) {
    value = static_cast<std::uint32_t>(field->integer("a whole number", 0, most_size));
  }
}

std::string setup_json(const Setup& setup) {
  JsonObject object;
  for (const auto& [name, size] : setup_sizes) object.add(name, std::uint64_t{setup.*size});
  return object.add("seed", setup.seed).text();
}

Setup read_setup(const JsonAt& at, const Setup& defaults) {
  at.only_ever({"layers", "kv_heads", "group", "sequences", "sinks", "recent", "budget", "seed"});
  Setup setup = defaults;
  for (const auto& [name, size] : setup_sizes) set_size(at, name, setup.*size);
  if (const auto seed = at.find("seed")) {
    setup.seed = seed->unsigned64("a whole number below 2^64");
  }
  if (setup.layers == 0 || setup.kv_heads == 0 || setup.group == 0 || setup.sequences == 0) {
    at.complain("layers, kv_heads, group and sequences must be at least 1");
    setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
  }
  return setup;
}

}  // namespace kv::properties
