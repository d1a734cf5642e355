#include "kvcheck/traces/files/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_dimensions = 32;  // as many as NumPy makes

// The entries of the dictionary; a key that it does not have is empty.
struct Fields {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

// Reads the one form of dictionary that NumPy writes: keys are strings, and values are a string,
// True or False, or a tuple of counts.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  // False when the text is something else.
  bool read(Fields& fields) {
    if (!take('{')) return false;
    while (!take('}')) {
      if (!entry(fields)) return false;
      if (!take(',') && peek() != '}') return false;
    }
    return peek() == '\0' && rest_.empty();
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool entry(Fields& fields) {
    std::string_view key;
    if (!string(key) || !take(':')) return false;
    // Any other key is refused, as by NumPy, and so is a repeated one, of which readers could take
    // either.
    if (key == "descr" && !fields.descr) return string(fields.descr.emplace());
    if (key == "fortran_order" && !fields.fortran_order) return boolean(fields.fortran_order);
    if (key == "shape" && !fields.shape) return tuple(fields.shape.emplace());
    return false;
  }

  bool string(std::string_view& value) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool boolean(std::optional<bool>& value) {
    if (take("True")) {
      value = true;
    } else if (take("False")) {
      value = false;
    }
    return value.has_value();
  }

  bool tuple(std::vector<std::size_t>& sizes) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      std::size_t size = 0;
      const char* const begin = rest_.data();
      const auto [end, status] = std::from_chars(begin, begin + rest_.size(), size);
      if (status != std::errc() || sizes.size() == max_dimensions) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - begin));
      sizes.push_back(size);
      if (!take(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view rest_;
};

struct TypeRow {
  std::string_view descr;
  NpyType type;
};

constexpr std::array types{TypeRow{"<f2", NpyType::f16}, TypeRow{"<f4", NpyType::f32},
                           TypeRow{"<f8", NpyType::f64}};

Result<NpyType> type_of(std::string_view descr) {
  const auto* const row = std::ranges::find(types, descr, &TypeRow::descr);
  if (row != types.end()) return row->type;
  std::string advice;
  if (descr.starts_with('>')) advice = "; big-endian arrays need array.astype('<f4') before saving";
  return Error{Error::Kind::unsupported,
               "the array has dtype " + shown(descr) + "; expected '<f2', '<f4' or '<f8'" + advice};
}

// The place and length of the dictionary. It follows the magic, two version bytes and its length,
// which has 2 bytes in version 1 and 4 in versions 2 and 3.
Result<std::pair<std::size_t, std::size_t>> find_dict(std::span<const std::byte> bytes) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  if (bytes.size() < 10) return malformed("the .npy file is cut off in its first 10 bytes");
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) {
    return Error{Error::Kind::unsupported,
                 "the array has .npy version " + std::to_string(major) + "; expected 1, 2 or 3"};
  }
  const std::size_t begin = major == 1 ? 10 : 12;
  if (bytes.size() < begin) return malformed("the .npy file is cut off in its first 12 bytes");
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > npy_header_limit) {
    return malformed("the .npy header announces " + std::to_string(length) +
                     " bytes; expected at most " + std::to_string(npy_header_limit));
  }
  if (length > bytes.size() - begin) {
    return malformed("the .npy header announces " + std::to_string(length) + " bytes, but only " +
                     std::to_string(bytes.size() - begin) + " follow; the file is cut off");
  }
  return std::pair(begin, length);
}

// The dictionary with all of its entries, and where the numbers begin.
struct Preamble {
  Fields fields;
  std::size_t data_offset = 0;
};

Result<Preamble> read_preamble(std::span<const std::byte> bytes) {
  if (!is_npy(bytes)) return malformed("the array does not begin like .npy; expected \\x93NUMPY");
  const auto found = find_dict(bytes);
  if (!found) return found.error();
  const auto [begin, length] = found.value();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + begin, length);
  Fields fields;
  if (!DictReader(text).read(fields) || !fields.descr || !fields.fortran_order || !fields.shape) {
    return malformed("the .npy header is " + shown(text) +
                     "; expected a dictionary of 'descr', 'fortran_order' and 'shape'");
  }
  return Preamble{std::move(fields), begin + length};
}

}  // namespace

std::size_t npy_bytes(NpyType type) {
  if (type == NpyType::f16) return 2;
  return type == NpyType::f32 ? 4 : 8;
}

bool is_npy(std::span<const std::byte> bytes) {
  if (bytes.size() < magic.size()) return false;
  return std::equal(magic.begin(), magic.end(), bytes.begin(), [](char c, std::byte b) {
    return static_cast<unsigned char>(c) == std::to_integer<unsigned char>(b);
  });
}

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes) {
  const Result<Preamble> read = read_preamble(bytes);
  if (!read) return read.error();
  const Fields& fields = read->fields;
  const Result<NpyType> type = type_of(*fields.descr);
  if (!type) return type.error();
  if (*fields.fortran_order) {
    return Error{Error::Kind::unsupported,
                 "the array is in Fortran order; expected C order, which "
                 "numpy.ascontiguousarray(array) gives"};
  }
  NpyHeader header{type.value(), *fields.shape, read->data_offset, 0};
  std::uint64_t end = 0;
  if (!product(header.shape, header.data_bytes) ||
      __builtin_mul_overflow(header.data_bytes, npy_bytes(header.type), &header.data_bytes) ||
      __builtin_add_overflow(header.data_bytes, header.data_offset, &end)) {
    return malformed("the array has shape " + shown_shape(header.shape) +
                     ", whose size does not fit in 64 bits");
  }
  return header;
}

Result<std::uint64_t> parse_npy_count(std::span<const std::byte> bytes) {
  const Result<Preamble> read = read_preamble(bytes);
  if (!read) return read.error();
  const std::string_view descr = *read->fields.descr;
  const bool wide = descr == "<i8" || descr == "<u8";
  if (!wide && descr != "<i4" && descr != "<u4") {
    return malformed("the array has dtype " + shown(descr) + "; expected an integer such as '<i8'");
  }
  const std::vector<std::size_t>& shape = *read->fields.shape;
  if (!shape.empty() && shape != std::vector<std::size_t>{1}) {
    return malformed("the array has shape " + shown_shape(shape) + "; expected one number");
  }
  const std::span<const std::byte> data = bytes.subspan(read->data_offset);
  const std::size_t width = wide ? 8 : 4;
  if (data.size() != width) {
    return malformed("the array has " + std::to_string(data.size()) +
                     " bytes of numbers; expected " + std::to_string(width));
  }
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8U | std::to_integer<std::uint64_t>(data[i]);
  const bool negative = descr[1] == 'i' && std::to_integer<unsigned>(data[width - 1]) >= 0x80;
  if (negative) return malformed("the array holds a negative number; expected a count");
  return value;
}

}  // namespace kv
