// Presets: published systems as points in the space of eight questions.
#pragma once

#include <span>
#include <string_view>

namespace kv {

struct Preset {
  std::string_view name;       // without the @
  std::string_view spec;       // the spec that the name abbreviates
  std::string_view source;     // paper or code
  std::string_view differs;    // known differences from the source's code
  std::string_view numbers{};  // published results and their place; empty if none is comparable
  std::string_view storage{};  // the source's, where the spec leaves it to --storage; empty: any
};

// All presets, in the order that help shows them.
std::span<const Preset> presets();

// The preset of that name (without the @), or null.
const Preset* find_preset(std::string_view name);

}  // namespace kv
