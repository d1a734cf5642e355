// Small trace files for tests, made in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv::test {

// A path in the running test's temporary folder, and the same after `bytes` are written there.
// Outside a test, the folder is one that is shared.
std::string temporary_path(const std::string& name);
std::string temporary_file(const std::string& name, std::string_view bytes);
std::string bytes_of_file(const std::string& path);

// Eight bytes of length, `header`, `data`.
std::string container(std::string_view header, std::string_view data);

// `count` little-endian numbers in a string.
std::string bytes_of(const std::vector<float>& values);
std::string halves(const std::vector<float>& values);

// One layer, 2 query heads on 1 kv-head, 3 tokens, 4 dimensions, f32. `change` edits the parts
// before they are put together.
struct SmallQkv {
  std::string metadata =
      R"("format":"kvcheck-trace","version":"1","kind":"qkv","layers":"1","query_heads":"2",)"
      R"("kv_heads":"1","head_dim":"4","rope_layout":"half","rope_theta":"10000","rope_dims":"4")";
  std::string tensors = R"("layers.7.q":{"dtype":"F32","shape":[2,3,4],"data_offsets":[0,96]},)"
                        R"("layers.7.k":{"dtype":"F32","shape":[1,3,4],"data_offsets":[96,144]},)"
                        R"("layers.7.v":{"dtype":"F32","shape":[1,3,4],"data_offsets":[144,192]},)"
                        R"("tokens":{"dtype":"I32","shape":[3],"data_offsets":[192,204]})";
  std::size_t data_bytes = 204;

  SmallQkv& swap(std::string& part, std::string_view from, std::string_view to);

  SmallQkv& in_metadata(std::string_view from, std::string_view to) {
    return swap(metadata, from, to);
  }

  SmallQkv& in_tensors(std::string_view from, std::string_view to) {
    return swap(tensors, from, to);
  }

  [[nodiscard]] std::string bytes() const;
};

// An attention trace in memory: one layer with that number, `rows` as [heads, n, n].
Trace attention_trace(std::size_t heads, std::size_t n, std::vector<float> rows);

// Opens `bytes` as a file; its error, or "opened".
std::string error_of(std::string_view bytes);

// An .npy file with this dictionary, or this whole header.
std::string npy(std::string_view dictionary, std::string_view data, char major = 1);

// A zip archive with these members.
struct Member {
  std::string name;
  std::string bytes;
  bool deflate = false;
};

std::string zip(const std::vector<Member>& members);

}  // namespace kv::test
