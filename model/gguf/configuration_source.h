// Reading a configuration from metadata: what its parts share. Private to model/gguf.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/model/gguf/configuration.h"
#include "kvcheck/model/gguf/metadata.h"

namespace kv::model {

// What one architecture reads, and where to.
struct ConfigurationSource {
  const Gguf& gguf;
  MetadataReader reader;
  std::string prefix;  // "llama."
  GgufConfiguration made{};
  std::uint64_t layers = 0;
  std::uint64_t width = 0;
  std::uint64_t heads = 0;
  std::uint64_t head_dim = 0;

  [[nodiscard]] std::string key(std::string_view name) const { return prefix + std::string(name); }

  void set(std::string_view name, std::uint64_t count) {
    made.entries[name] = static_cast<std::int64_t>(count);
  }

  void set(std::string_view name, double number) { made.entries[name] = number; }

  // Sets an entry if the file has its source.
  void copy_number(std::string_view from, std::string_view to) {
    if (const auto number = reader.number(key(from))) set(to, *number);
  }
};

// The rotation of a head's leading dimensions: how many, by which base, and how it is scaled.
// `partial`: the architecture need not rotate all.
void read_gguf_rotation(ConfigurationSource& source, bool partial);

}  // namespace kv::model
