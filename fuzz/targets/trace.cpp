#include "kvcheck/traces/trace.h"

#include <algorithm>
#include <cstring>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/files/safetensors_header.h"
#include "kvcheck/traces/query_sample.h"

namespace kv::fuzz {

// The length of the header is always right, and the data are as long as the header says, so that
// more of the changes to an input reach what lies behind these checks.
bool trace(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 2);
  const Result<SafetensorsHeader> header = parse_safetensors_header(parts[0]);
  if (!header) return refused(header.error());
  if (const auto said = header->metadata.find("query_design"); said != header->metadata.end()) {
    const Result<QueryDesign> design = parse_query_design(said->second);
    KV_CHECK(!design || parse_query_design(text_of(*design)) == *design);
  }
  std::uint64_t end = 0;
  for (const SafetensorsEntry& entry : header->tensors) {
    if (entry.offsets.size() == 2) end = std::max(end, entry.offsets[1]);
  }
  std::string data(parts[1]);
  data.resize(std::min<std::uint64_t>(end, 65536), '\0');
  const std::uint64_t length = parts[0].size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  const Result<Trace> opened =
      open_trace(scratch_file("trace.safetensors", bytes.append(parts[0]).append(data)));
  if (!opened) return refused(opened.error());
  try_trace(*opened);
  return true;
}

}  // namespace kv::fuzz
