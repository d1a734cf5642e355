// Presets: published systems as points in the space of eight questions.
#pragma once

#include <span>
#include <string_view>

namespace kv {

struct Preset {
  std::string_view name;       // without the @
  std::string_view spec;       // what it stands for
  std::string_view source;     // paper or code
  std::string_view differs;    // known differences from the source's code
  std::string_view numbers{};  // what the source published, and where; empty if nothing comparable
  std::string_view storage{};  // --storage as the source has it; empty: any. It is no part of a
                               // spec, and so is to be given beside the preset
};

// All presets, in the order that help shows them.
std::span<const Preset> presets();

// The preset of that name (without the @), or null.
const Preset* find_preset(std::string_view name);

}  // namespace kv
