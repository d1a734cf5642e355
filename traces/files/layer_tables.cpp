#include "kvcheck/traces/files/layer_tables.h"

#include <cstring>
#include <vector>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

template <typename From, typename To>
void copy(const SafetensorsTensor& tensor, std::vector<To>& to) {
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
    copy<double>(*tensor, to);
  } else {
    copy<float>(*tensor, to);
  }
  return {};
}

}  // namespace

Result<void> read_layer_tables(const SafetensorsTensor* frequencies,
                               const SafetensorsTensor* sinks,
                               const SafetensorsTensor* slopes,
                               LayerRules& rules) {
  if (auto read = read_table(frequencies, true, rules.frequencies); !read) return read;
  if (auto read = read_table(sinks, false, rules.sinks); !read) return read;
  return read_table(slopes, false, rules.slopes);
}

}  // namespace kv
