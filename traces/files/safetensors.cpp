#include "kvcheck/traces/files/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/files/safetensors_header.h"

namespace kv {
namespace {

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array dtypes{
    DtypeRow{Dtype::boolean, "BOOL", 1}, DtypeRow{Dtype::u8, "U8", 1},
    DtypeRow{Dtype::i32, "I32", 4},      DtypeRow{Dtype::i64, "I64", 8},
    DtypeRow{Dtype::f16, "F16", 2},      DtypeRow{Dtype::bf16, "BF16", 2},
    DtypeRow{Dtype::f32, "F32", 4},      DtypeRow{Dtype::f64, "F64", 8},
};

const DtypeRow& row_of(Dtype dtype) {
  return *std::ranges::find(dtypes, dtype, &DtypeRow::dtype);
}

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

Result<std::string_view> find_header(std::span<const std::byte> bytes) {
  if (bytes.empty()) return malformed("the file is empty; expected a safetensors header");
  if (bytes.size() < 8) {
    return malformed("the file has " + bytes_text(bytes.size()) +
                     "; expected at least 8, the length of a safetensors header");
  }
  std::uint64_t length = 0;
  // The length is little-endian on every machine.
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  if (length == 0) return malformed("the header has 0 bytes; expected JSON");
  if (length > safetensors_header_limit) {
    return malformed("the header announces " + bytes_text(length) + "; expected at most " +
                     std::to_string(safetensors_header_limit) +
                     " (is this a safetensors, .npy or .npz file?)");
  }
  if (length > bytes.size() - 8) {
    return malformed("the header announces " + bytes_text(length) + ", but only " +
                     std::to_string(bytes.size() - 8) + " follow its length; the file is cut off");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  return std::string_view(text, static_cast<std::size_t>(length));
}

Result<SafetensorsTensor> check_entry(const SafetensorsEntry& entry,
                                      std::span<const std::byte> data) {
  const std::string tensor = "tensor " + shown(entry.name);
  const auto* const row = std::ranges::find(dtypes, entry.dtype, &DtypeRow::name);
  if (row == dtypes.end()) {
    return malformed(tensor + " has dtype " + shown(entry.dtype) +
                     "; expected U8, I32, I64, F16, BF16, F32, F64 or BOOL");
  }
  std::uint64_t size = 0;
  if (!product(entry.shape, size) ||
      __builtin_mul_overflow(size, std::uint64_t{row->bytes}, &size)) {
    return malformed(tensor + " has shape " + shown_shape(entry.shape) +
                     ", whose size does not fit in 64 bits");
  }
  const std::uint64_t begin = entry.offsets[0];
  const std::uint64_t end = entry.offsets[1];
  if (begin > end) {
    return malformed(tensor + " begins at byte " + std::to_string(begin) +
                     " of the data and ends at " + std::to_string(end) + ", before its beginning");
  }
  if (end > data.size()) {
    return malformed(tensor + " ends at byte " + std::to_string(end) + " of the data, which has " +
                     bytes_text(data.size()) + "; the file is cut off or its header is wrong");
  }
  if (end - begin != size) {
    return malformed(tensor + " has " + bytes_text(end - begin) +
                     " at its data_offsets; expected " + std::to_string(size) + " for " +
                     entry.dtype + " " + shown_shape(entry.shape));
  }
  return SafetensorsTensor{
      entry.name, row->dtype, {entry.shape.begin(), entry.shape.end()}, data.subspan(begin, size)};
}

// Sorts by offset and checks that the tensors cover the data without gaps or overlaps. A tensor
// without numbers shares its offset with the next one; sorting by size too puts it first.
Result<void> check_cover(std::vector<SafetensorsTensor>& tensors, std::span<const std::byte> data) {
  const auto offset = [&](const SafetensorsTensor& tensor) {
    return static_cast<std::size_t>(tensor.data.data() - data.data());
  };
  std::ranges::sort(tensors, {}, [&](const SafetensorsTensor& tensor) {
    return std::tuple(offset(tensor), tensor.data.size(), std::string_view(tensor.name));
  });
  std::size_t covered = 0;
  std::string before = "the header";
  for (const SafetensorsTensor& tensor : tensors) {
    const std::size_t begin = offset(tensor);
    const std::string name = "tensor " + shown(tensor.name);
    if (begin < covered) return malformed(name + " overlaps " + before);
    if (begin > covered) {
      return malformed("no tensor covers the " + bytes_text(begin - covered) + " between " +
                       before + " and " + name + "; expected that tensors cover all of the data");
    }
    covered += tensor.data.size();
    before = name;
  }
  if (covered == data.size()) return {};
  return malformed("no tensor covers the last " + bytes_text(data.size() - covered) +
                   " of the file; expected that tensors cover all of the data");
}

}  // namespace

std::string_view dtype_name(Dtype dtype) {
  return row_of(dtype).name;
}

std::size_t dtype_bytes(Dtype dtype) {
  return row_of(dtype).bytes;
}

const SafetensorsTensor* Safetensors::find(std::string_view name) const {
  const auto at = std::ranges::find(tensors, name, &SafetensorsTensor::name);
  return at == tensors.end() ? nullptr : &*at;
}

Result<Safetensors> parse_safetensors(std::span<const std::byte> bytes) {
  const Result<std::string_view> found = find_header(bytes);
  if (!found) return found.error();
  const std::string_view json = found.value();
  Result<SafetensorsHeader> parsed = parse_safetensors_header(json);
  if (!parsed) return parsed.error();
  const SafetensorsHeader header = std::move(parsed).value();
  const std::span<const std::byte> data = bytes.subspan(8 + json.size());

  Safetensors file;
  file.metadata = header.metadata;
  for (const SafetensorsEntry& entry : header.tensors) {
    Result<SafetensorsTensor> tensor = check_entry(entry, data);
    if (!tensor) return tensor.error();
    file.tensors.push_back(std::move(*tensor));
  }
  if (Result<void> covered = check_cover(file.tensors, data); !covered) return covered.error();
  return file;
}

}  // namespace kv
