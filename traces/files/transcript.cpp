#include "kvcheck/traces/files/transcript.h"

#include <cstring>
#include <string>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

template <typename T>
std::vector<T> copy_of(const SafetensorsTensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  // Copies byte by byte, because the data of a tensor need not be aligned.
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

// `size` is the number of elements that the shape must have; npos allows any.
Result<void> check_vector(const SafetensorsTensor& tensor, Dtype dtype, std::size_t size) {
  const bool fits = tensor.dtype == dtype && tensor.shape.size() == 1 &&
                    (size == std::string::npos || tensor.shape[0] == size);
  if (fits) return {};
  const std::string expected = size == std::string::npos ? "[bytes]" : shown_shape({&size, 1});
  return malformed("tensor " + shown(tensor.name) + " is " + std::string(dtype_name(tensor.dtype)) +
                   " " + shown_shape(tensor.shape) + "; expected " +
                   std::string(dtype_name(dtype)) + " " + expected);
}

Result<void> check_ends(const Transcript& transcript) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < transcript.text_ends.size(); ++i) {
    const std::int64_t end = transcript.text_ends[i];
    // Equal ends are allowed: a token may have no text of its own, such as the begin token.
    if (end < before || std::cmp_greater(end, transcript.text.size())) {
      return malformed("tensor 'text_ends' has " + std::to_string(end) + " at token " +
                       std::to_string(i) + "; expected a number from " + std::to_string(before) +
                       " to " + std::to_string(transcript.text.size()) +
                       ", the end of that token in 'text'");
    }
    before = end;
  }
  return {};
}

template <typename From, typename To>
void copy_list(const SafetensorsTensor& tensor, std::vector<To>& to) {
  std::vector<From> values(tensor.shape[0]);
  // Byte by byte, because the data of a tensor need not be aligned.
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  to.assign(values.begin(), values.end());
}

// `wide`: f64 is allowed too.
template <typename To>
Result<void> read_table(const SafetensorsTensor* tensor, bool wide, std::vector<To>& to) {
  if (tensor == nullptr) return {};
  const bool doubles = wide && tensor->dtype == Dtype::f64;
  const bool list =
      tensor->shape.size() == 1 && tensor->shape[0] >= 1 && tensor->shape[0] <= largest_dimension;
  if (!list || (tensor->dtype != Dtype::f32 && !doubles)) {
    return malformed("tensor " + shown(tensor->name) + " is " +
                     std::string(dtype_name(tensor->dtype)) + " " + shown_shape(tensor->shape) +
                     "; expected F32 " + (wide ? "or F64 " : "") + "and one list of 1 to " +
                     std::to_string(largest_dimension) + " numbers");
  }
  if (doubles) {
    copy_list<double>(*tensor, to);
  } else {
    copy_list<float>(*tensor, to);
  }
  return {};
}

}  // namespace

bool is_transcript_tensor(std::string_view name) {
  return name == "tokens" || name == "text" || name == "text_ends" || name == "nll";
}

Result<TranscriptTensors> read_transcript(const Safetensors& file, std::size_t tokens) {
  TranscriptTensors result;
  Transcript& transcript = result.transcript;
  if (const auto* tensor = file.find("tokens")) {
    if (auto fits = check_vector(*tensor, Dtype::i32, tokens); !fits) return fits.error();
    result.token_ids = copy_of<std::int32_t>(*tensor);
  }
  if (const auto* tensor = file.find("text")) {
    if (auto fits = check_vector(*tensor, Dtype::u8, std::string::npos); !fits) return fits.error();
    transcript.text.assign(reinterpret_cast<const char*>(tensor->data.data()), tensor->data.size());
  }
  if (const auto* tensor = file.find("text_ends")) {
    if (auto fits = check_vector(*tensor, Dtype::i64, tokens); !fits) return fits.error();
    transcript.text_ends = copy_of<std::int64_t>(*tensor);
    if (auto fits = check_ends(transcript); !fits) return fits.error();
  }
  if (const auto* tensor = file.find("nll")) {
    if (auto fits = check_vector(*tensor, Dtype::f32, tokens); !fits) return fits.error();
    transcript.nll = copy_of<float>(*tensor);
  }
  return result;
}

Result<void> read_layer_tables(const SafetensorsTensor* frequencies,
                               const SafetensorsTensor* sinks,
                               const SafetensorsTensor* slopes,
                               LayerRules& rules) {
  if (auto read = read_table(frequencies, true, rules.frequencies); !read) return read;
  if (auto read = read_table(sinks, false, rules.sinks); !read) return read;
  return read_table(slopes, false, rules.slopes);
}

Result<void> read_queries(const SafetensorsTensor* tensor, TraceInfo& info) {
  if (tensor == nullptr) {
    if (!info.query_design) return {};
    return malformed(
        "__metadata__ has query_design, and there is no tensor 'queries'; expected it");
  }
  if (tensor->dtype != Dtype::i32 || tensor->shape.size() != 1) {
    return malformed("tensor 'queries' is " + std::string(dtype_name(tensor->dtype)) + " " +
                     shown_shape(tensor->shape) + "; expected I32 [queries]");
  }
  // A number below 0 becomes one beyond every stream.
  info.queries = copy_of<Position>(*tensor);
  return check_queries(info.queries, info.query_design, info.tokens);
}

}  // namespace kv
