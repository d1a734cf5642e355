#include "kvcheck/traces/files/safetensors.h"

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/metadata.h"

namespace kv::fuzz {
namespace {

// Tensors lie in the input one after the other, each as long as its shape, and cover the data.
void check_tensors(const Safetensors& file, Input input) {
  const std::byte* end = nullptr;
  for (const SafetensorsTensor& tensor : file.tensors) {
    std::size_t size = dtype_bytes(tensor.dtype);
    for (const std::size_t length : tensor.shape) size *= length;
    KV_CHECK(tensor.data.size() == size);
    KV_CHECK(end == nullptr || tensor.data.data() == end);
    KV_CHECK(tensor.data.data() >= input.data());
    end = tensor.data.data() + size;
    KV_CHECK(file.find(tensor.name) == &tensor);
  }
  KV_CHECK(end == nullptr || end == input.data() + input.size());
}

void check_metadata(const std::map<std::string, std::string>& metadata) {
  const Result<TraceMetadata> read = read_trace_metadata(metadata);
  if (!read) return static_cast<void>(refused(read.error()));
  std::map<std::string, std::string> written;
  for (const auto& [name, value] : trace_metadata(read->info)) written[name] = value;
  const Result<TraceMetadata> again = read_trace_metadata(written);
  KV_CHECK(again.has_value());
  KV_CHECK(trace_metadata(again->info) == trace_metadata(read->info));
}

}  // namespace

bool safetensors(Input input) {
  const Result<Safetensors> parsed = parse_safetensors(input);
  if (!parsed) return refused(parsed.error());
  check_tensors(*parsed, input);
  check_metadata(parsed->metadata);
  const Result<Trace> opened = open_trace(scratch_file("trace.safetensors", text_of(input)));
  if (!opened) return !refused(opened.error());
  try_trace(*opened);
  return true;
}

}  // namespace kv::fuzz
