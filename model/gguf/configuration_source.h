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

  // Sets an entry to what the file's key `from` says, or to what holds without that key.
  void set(std::string_view to, std::uint64_t count, std::string_view from) {
    made.entries[to] = static_cast<std::int64_t>(count);
    made.keys[std::string(to)] = key(from);
  }

  void set(std::string_view to, double number, std::string_view from) {
    made.entries[to] = number;
    made.keys[std::string(to)] = key(from);
  }

  // Sets an entry if the file has the key.
  void copy_number(std::string_view from, std::string_view to) {
    if (const auto number = reader.number(key(from))) set(to, *number, from);
  }
};

// The rotation of a head's leading dimensions: how many, by which base, and how it is scaled.
// `partial`: the architecture need not rotate all.
void read_gguf_rotation(ConfigurationSource& source, bool partial);

}  // namespace kv::model
