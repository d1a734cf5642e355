#include "kvcheck/properties/conformance/tensor_reader.h"

#include <algorithm>
#include <utility>

namespace kv::properties {
namespace {

SubjectFailed wrong(std::size_t layer, const std::string& words) {
  return SubjectFailed("layer " + std::to_string(layer) + ": " + words);
}

// Query i of n sees all rows but the last n - 1 - i.
std::vector<std::uint8_t> causal(std::size_t queries, std::size_t rows) {
  std::vector<std::uint8_t> mask;
  for (std::size_t query = 0; query < queries; ++query) {
    for (std::size_t row = 0; row < rows; ++row) {
      mask.push_back(row + queries <= rows + query ? 1 : 0);
    }
  }
  return mask;
}

}  // namespace

TensorReader::TensorReader(const TensorFormat& format, const Setup& setup, bool positions)
    : format_(format), setup_(setup), positions_(positions), rows_(format) {}

Tensor TensorReader::view(const std::vector<std::byte>& bytes,
                          std::size_t tokens,
                          std::size_t size) const {
  const auto row = static_cast<std::ptrdiff_t>(size);
  const auto head = static_cast<std::ptrdiff_t>(tokens) * row;
  return {bytes.data(), tokens, head * static_cast<std::ptrdiff_t>(setup_.kv_heads), head, row};
}

TensorChunk TensorReader::chunk(std::size_t layer,
                                std::span<const Token> tokens,
                                std::span<const double> positions) const {
  const std::size_t width = bytes_of(format_.type);
  std::vector<float> key(rows_.key_size());
  std::vector<float> value(rows_.value_size());
  const std::size_t rows = units() * tokens.size();
  TensorChunk out{std::vector<std::byte>(rows * key.size() * width),
                  std::vector<std::byte>(rows * value.size() * width),
                  {}};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t token = row % tokens.size();
    const auto unit = static_cast<std::uint32_t>(row / tokens.size());
    const Place place{unit / setup_.kv_heads, static_cast<std::uint32_t>(layer),
                      unit % setup_.kv_heads};
    const double position = format_.raw_keys ? 0 : positions[token];
    rows_.encode_key(tokens[token], place, position, key);
    rows_.encode_value(tokens[token], place, value);
    write_numbers(key, format_.type, out.keys.data() + row * key.size() * width);
    write_numbers(value, format_.type, out.values.data() + row * value.size() * width);
  }
  out.views = {view(out.keys, tokens.size(), key.size()),
               view(out.values, tokens.size(), value.size())};
  return out;
}

const void* TensorReader::address(const Tensor& tensor, std::size_t unit, std::size_t row) const {
  const std::ptrdiff_t numbers =
      static_cast<std::ptrdiff_t>(unit / setup_.kv_heads) * tensor.sequence_stride +
      static_cast<std::ptrdiff_t>(unit % setup_.kv_heads) * tensor.head_stride +
      static_cast<std::ptrdiff_t>(row) * tensor.row_stride;
  return static_cast<const std::byte*>(tensor.data) +
         numbers * static_cast<std::ptrdiff_t>(bytes_of(format_.type));
}

std::vector<std::vector<TensorRow>> TensorReader::read(const KeysAndValues& rows,
                                                       std::size_t layer,
                                                       const std::string& what) const {
  if (rows.keys.rows != rows.values.rows) {
    throw wrong(layer, std::to_string(rows.keys.rows) + " keys and " +
                           std::to_string(rows.values.rows) + " values are " + what);
  }
  if (rows.keys.rows > 0 && (rows.keys.data == nullptr || rows.values.data == nullptr)) {
    throw wrong(layer, "rows without an address are " + what);
  }
  std::vector<std::vector<TensorRow>> read(units());
  std::vector<float> key(rows_.key_size());
  std::vector<float> value(rows_.value_size());
  for (std::size_t unit = 0; unit < read.size(); ++unit) {
    for (std::size_t row = 0; row < rows.keys.rows; ++row) {
      read_numbers(address(rows.keys, unit, row), format_.type, key);
      read_numbers(address(rows.values, unit, row), format_.type, value);
      read[unit].push_back(row_of(key, value));
    }
  }
  return read;
}

TensorRow TensorReader::row_of(std::span<const float> key, std::span<const float> value) const {
  const auto is_zero = [](float x) { return x == 0; };
  const bool unwritten = std::ranges::all_of(key, is_zero) && std::ranges::all_of(value, is_zero);
  const KeyReading of_key = rows_.read_key(key);
  const ValueReading of_value = rows_.read_value(value);
  Row row{.value = of_value.token,
          .key = of_key.token,
          .value_place = of_value.place,
          .key_place = of_key.place,
          .position = of_key.position,
          .key_error = of_key.error,
          .apart = true};
  if (!positions_) row.position = row.key_error = not_reported;
  return {row, !unwritten};
}

std::vector<std::uint8_t> TensorReader::mask(const Attended& attended,
                                             std::size_t layer,
                                             std::size_t queries) const {
  const std::size_t rows = attended.keys.rows;
  if (attended.mask.size() == units() * queries * rows && units() > 1) return attended.mask;
  const std::vector<std::uint8_t> one =
      attended.mask.empty() ? causal(queries, rows) : attended.mask;
  if (one.size() != queries * rows) {
    throw wrong(layer, "the mask has " + std::to_string(one.size()) + " entries; expected " +
                           std::to_string(queries) + " x " + std::to_string(rows) +
                           ", once or for each sequence and kv-head");
  }
  std::vector<std::uint8_t> all;
  for (std::size_t unit = 0; unit < units(); ++unit) all.insert(all.end(), one.begin(), one.end());
  return all;
}

}  // namespace kv::properties
