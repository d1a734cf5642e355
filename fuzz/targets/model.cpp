#include <algorithm>
#include <cstring>

#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/files/safetensors_header.h"

namespace kv::fuzz {

// As in the target `trace`, the length of the header and the size of the data are always right.
bool model(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 3);
  std::uint64_t end = 0;
  if (const auto header = parse_safetensors_header(parts[1])) {
    for (const SafetensorsEntry& entry : header->tensors) {
      if (entry.offsets.size() == 2) end = std::max(end, entry.offsets[1]);
    }
  }
  // The data are the third part, again and again.
  std::string data(std::min<std::uint64_t>(end, 262144), '\0');
  for (std::size_t i = 0; !parts[2].empty() && i < data.size(); ++i) {
    data[i] = parts[2][i % parts[2].size()];
  }
  const std::uint64_t length = parts[1].size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  scratch_file("model/config.json", parts[0]);
  scratch_file("model/model.safetensors", bytes.append(parts[1]).append(data));
  const Result<model::LanguageModel> opened = model::open_model(scratch_path("model"));
  if (!opened) return refused(opened.error());
  try_model(*opened);
  return true;
}

}  // namespace kv::fuzz
