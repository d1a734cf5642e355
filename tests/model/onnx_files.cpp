#include "kvcheck/tests/model/onnx_files.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::test {
namespace {

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint or a fixed 32-bit field
  std::string_view bytes;   // of a field with a length
};

std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !rest.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  std::abort();
}

// The message's fields in order.
std::vector<Field> fields_of(std::string_view rest) {
  std::vector<Field> fields;
  while (!rest.empty()) {
    const std::uint64_t tag = take_varint(rest);
    Field field{tag >> 3, 0, {}};
    std::size_t length = 0;
    switch (tag & 7) {
      case 0:
        field.value = take_varint(rest);
        break;
      case 2:
        length = take_varint(rest);
        break;
      case 5:
        length = 4;
        break;
      default:
        std::abort();
    }
    if (length > rest.size()) std::abort();
    field.bytes = rest.substr(0, length);
    rest.remove_prefix(length);
    if ((tag & 7) == 5) std::memcpy(&field.value, field.bytes.data(), 4);
    fields.push_back(field);
  }
  return fields;
}

std::vector<float> numbers_of(std::string_view raw, std::uint64_t type) {
  constexpr std::uint64_t f32 = 1;
  constexpr std::uint64_t boolean = 9;
  constexpr std::uint64_t f16 = 10;
  constexpr std::uint64_t i64 = 7;
  if (type == i64) {
    std::vector<std::int64_t> counts(raw.size() / 8);
    std::memcpy(counts.data(), raw.data(), raw.size());
    return {counts.begin(), counts.end()};
  }
  if (type != f32 && type != boolean && type != f16) std::abort();
  const std::size_t size = type == f32 ? 4 : type == f16 ? 2 : 1;
  std::vector<float> values(raw.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, raw.data() + i * size, size);
    values[i] = type == f32   ? std::bit_cast<float>(bits)
                : type == f16 ? f16_to_f32(static_cast<std::uint16_t>(bits))
                              : static_cast<float>(bits);
  }
  return values;
}

}  // namespace

OnnxTensor read_onnx_tensor(const std::string& path) {
  const std::string bytes = bytes_of_file(path);
  OnnxTensor tensor;
  std::uint64_t type = 0;
  std::string_view raw;
  for (const Field& field : fields_of(bytes)) {
    if (field.number == 1 && field.bytes.empty()) tensor.shape.push_back(field.value);
    if (field.number == 1) {
      for (std::string_view packed = field.bytes; !packed.empty();) {
        tensor.shape.push_back(take_varint(packed));
      }
    }
    if (field.number == 2) type = field.value;
    if (field.number == 9) raw = field.bytes;
  }
  tensor.values = numbers_of(raw, type);
  tensor.half = type == 10;
  std::size_t size = 1;
  for (const std::size_t length : tensor.shape) size *= length;
  if (size != tensor.values.size()) std::abort();
  return tensor;
}

std::map<std::string, double> read_onnx_attributes(const std::string& path) {
  const std::string bytes = bytes_of_file(path);
  std::map<std::string, double> attributes;
  for (const Field& graph : fields_of(bytes)) {
    if (graph.number != 7) continue;
    for (const Field& node : fields_of(graph.bytes)) {
      if (node.number != 1) continue;
      for (const Field& attribute : fields_of(node.bytes)) {
        if (attribute.number != 5) continue;
        std::string name;
        double value = 0;
        for (const Field& part : fields_of(attribute.bytes)) {
          if (part.number == 1) name = part.bytes;
          if (part.number == 2) {
            value =
                static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(part.value)));
          }
          if (part.number == 3) value = static_cast<double>(part.value);
        }
        attributes[name] = value;
      }
    }
  }
  return attributes;
}

}  // namespace kv::test
