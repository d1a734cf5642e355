#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/gguf/container.h"

namespace kv::model {
namespace {

struct TensorType {
  std::uint32_t code;
  std::string_view name;
  Number number;
  Quantisation quantised;
};

using Q = Quantisation;

constexpr std::array<TensorType, 8> tensor_types = {{
    {0, "F32", Number::f32, Q::none},
    {1, "F16", Number::f16, Q::none},
    {2, "Q4_0", Number::f32, Q::q4_0},
    {8, "Q8_0", Number::f32, Q::q8_0},
    {12, "Q4_K", Number::f32, Q::q4_k},
    {13, "Q5_K", Number::f32, Q::q5_k},
    {14, "Q6_K", Number::f32, Q::q6_k},
    {30, "BF16", Number::bf16, Q::none},
}};

// Types that other files have; for messages.
std::string name_of_type(std::uint32_t code) {
  constexpr std::array<std::string_view, 40> names = {
      "F32",     "F16",    "Q4_0",    "Q4_1",  "4",      "5",     "Q5_0",  "Q5_1",
      "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
      "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
      "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  "31",
      "32",      "33",     "TQ1_0",   "TQ2_0", "36",     "37",    "38",    "MXFP4"};
  return code < names.size() ? std::string(names.at(code)) : std::to_string(code);
}

// Reads on from a position. It keeps the first problem, after which it reads zeros and empty texts.
class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<Gguf> run() {
    const auto [tensors, entries] = header();
    for (std::uint64_t i = 0; i < entries && !failed(); ++i) entry();
    std::vector<Placed> placed;
    for (std::uint64_t i = 0; i < tensors && !failed(); ++i) tensor(placed);
    place(placed);
    if (failed()) return Error{kind_, problem_};
    return std::move(gguf_);
  }

 private:
  struct Placed {
    std::string name;
    GgufTensor tensor;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] bool failed() const { return !problem_.empty(); }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  void fail(std::string problem, Error::Kind kind = Error::Kind::malformed) {
    if (failed()) return;
    problem_ = std::move(problem);
    kind_ = kind;
  }

  // The next bytes, or none if fewer are left.
  std::span<const std::byte> take(std::uint64_t count) {
    if (failed()) return {};
    if (count > left()) {
      fail("is cut off or wrong " + where_ + ", which needs " + std::to_string(count) +
           " bytes at byte " + std::to_string(at_) + "; " + std::to_string(left()) + " are left");
      return {};
    }
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  template <typename T>
  T number() {
    T value{};
    const auto bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  std::string_view text() {
    const auto bytes = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // The numbers of tensors and of metadata entries.
  std::array<std::uint64_t, 2> header() {
    where_ = "in its header";
    const auto magic = take(4);
    if (!failed() && std::memcmp(magic.data(), "GGUF", 4) != 0) {
      fail("does not begin with 'GGUF'; expected a GGUF file");
    }
    const auto version = number<std::uint32_t>();
    if (!failed() && (version == 2U << 24 || version == 3U << 24)) {
      fail("is a GGUF file of another byte order; expected little-endian", unsupported);
    }
    if (!failed() && version != 2 && version != 3) {
      fail("is a GGUF file of version " + std::to_string(version) + "; expected 2 or 3",
           unsupported);
    }
    const auto tensors = number<std::uint64_t>();
    const auto entries = number<std::uint64_t>();
    // The fewest bytes that one of each takes; so no loop is longer than the file.
    if (entries > left() / 13 || tensors > left() / 32) {
      fail("says that it has " + std::to_string(entries) + " metadata entries and " +
           std::to_string(tensors) + " tensors, more than its " + std::to_string(bytes_.size()) +
           " bytes can hold");
    }
    return {tensors, entries};
  }

  void entry() {
    where_ = "in metadata entry " + std::to_string(gguf_.metadata.size());
    std::string key(text());
    if (!failed() && key.empty()) fail("has a metadata entry without a name");
    where_ = "in metadata entry " + shown(key);
    const std::uint32_t type = value_type();
    if (failed()) return;
    const GgufValue value = type == list_type ? list(0) : single(static_cast<GgufType>(type));
    if (failed()) return;
    if (!gguf_.metadata.emplace(key, value).second) {
      fail("has two metadata entries " + shown(key) + "; expected one");
    }
  }

  std::uint32_t value_type() {
    const auto type = number<std::uint32_t>();
    if (type > static_cast<std::uint32_t>(GgufType::f64)) {
      fail("has the type " + std::to_string(type) + " " + where_ + "; expected 0 to 12");
    }
    return type;
  }

  GgufValue single(GgufType type) {
    const std::size_t begin = at_;
    if (type == GgufType::text) {
      text();
    } else {
      take(gguf_value_bytes(type));
    }
    return {type, std::nullopt, bytes_.subspan(begin, at_ - begin)};
  }

  // A list, which may hold lists.
  GgufValue list(std::size_t depth) {
    constexpr std::size_t deepest = 4;
    if (depth == deepest) {
      fail("has lists within lists " + where_ + "; expected at most " + std::to_string(deepest) +
           " levels");
    }
    const std::uint32_t code = value_type();
    const auto length = number<std::uint64_t>();
    if (failed()) return {};
    const auto type = static_cast<GgufType>(code);
    const std::size_t size = gguf_value_bytes(type);
    // A text takes 8 bytes or more, a list 12.
    const std::size_t fewest = size > 0 ? size : 8;
    if (length > left() / fewest) {
      fail("has a list of " + std::to_string(length) + " values " + where_ +
           ", which is cut off or wrong: only " + std::to_string(left()) + " bytes are left");
      return {};
    }
    const std::size_t begin = at_;
    if (size > 0) take(length * size);
    for (std::uint64_t i = 0; size == 0 && i < length && !failed(); ++i) {
      if (type == GgufType::text) {
        text();
      } else {
        list(depth + 1);
      }
    }
    return {type, length, bytes_.subspan(begin, at_ - begin)};
  }

  void tensor(std::vector<Placed>& placed) {
    where_ = "in the entry of tensor " + std::to_string(placed.size());
    Placed one{.name = std::string(text()), .tensor = {}};
    where_ = "in the entry of tensor " + shown(one.name);
    const auto dimensions = number<std::uint32_t>();
    if (dimensions == 0 || dimensions > 4) {
      fail("has " + std::to_string(dimensions) + " dimensions " + where_ + "; expected 1 to 4");
    }
    for (std::uint32_t i = 0; i < dimensions && !failed(); ++i) {
      one.tensor.shape.push_back(number<std::uint64_t>());
    }
    const auto code = number<std::uint32_t>();
    one.offset = number<std::uint64_t>();
    if (failed()) return;
    measure(one, code);
    // Files have the fastest dimension first.
    std::reverse(one.tensor.shape.begin(), one.tensor.shape.end());
    placed.push_back(std::move(one));
  }

  void measure(Placed& one, std::uint32_t code) {
    const auto* const type = std::ranges::find(tensor_types, code, &TensorType::code);
    if (type == tensor_types.end()) {
      return fail("has tensor " + shown(one.name) + " of type " + name_of_type(code) +
                      "; expected F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K or Q6_K",
                  unsupported);
    }
    one.tensor.type = type->name;
    one.tensor.number = type->number;
    one.tensor.quantised = type->quantised;
    std::uint64_t numbers = 0;
    // Far above any tensor, and low enough that its bytes can be counted.
    if (!product(one.tensor.shape, numbers) || numbers > std::uint64_t{1} << 48) {
      return fail("has tensor " + shown(one.name) + " of shape " + shown_shape(one.tensor.shape) +
                  ", more numbers than any file holds");
    }
    const BlockSize block = block_size(type->quantised);
    if (block.weights > 0 && one.tensor.shape.front() % block.weights != 0) {
      return fail("has tensor " + shown(one.name) + " of type " + std::string(type->name) +
                  " with rows of " + std::to_string(one.tensor.shape.front()) +
                  " numbers; expected a multiple of " + std::to_string(block.weights));
    }
    one.bytes = block.weights > 0 ? numbers / block.weights * block.bytes
                                  : numbers * (type->number == Number::f32 ? 4 : 2);
  }

  // Views of the tensors' bytes, which follow the entries.
  void place(std::vector<Placed>& placed) {
    const std::uint64_t align = alignment();
    if (failed()) return;
    const auto padded = [&](std::uint64_t bytes) { return (bytes + align - 1) / align * align; };
    const std::uint64_t begin = padded(at_);
    const std::uint64_t size = begin < bytes_.size() ? bytes_.size() - begin : 0;
    std::uint64_t end = 0;  // of the tensors before
    std::ranges::stable_sort(placed, {}, &Placed::offset);
    for (Placed& one : placed) {
      if (gguf_.tensors.contains(one.name)) {
        return fail("has two tensors " + shown(one.name) + "; expected one");
      }
      // Without gaps, as llama.cpp writes them: elsewhere a tensor has the numbers of another.
      if (one.offset != padded(end)) {
        return fail("has tensor " + shown(one.name) + " at offset " + std::to_string(one.offset) +
                    "; expected " + std::to_string(padded(end)) + ", behind the tensor before");
      }
      if (one.offset > size || one.bytes > size - one.offset) {
        return fail("is cut off: tensor " + shown(one.name) + " needs " +
                    std::to_string(one.bytes) + " bytes at offset " + std::to_string(one.offset) +
                    " of the data, which have " + std::to_string(size));
      }
      end = one.offset + one.bytes;
      one.tensor.data = bytes_.subspan(begin + one.offset, one.bytes);
      gguf_.tensors.emplace(one.name, std::move(one.tensor));
    }
    if (size < end + align) return;
    fail("has " + std::to_string(size - end) +
         " bytes behind its last tensor; expected fewer than " + std::to_string(align));
  }

  std::uint64_t alignment() {
    constexpr std::uint64_t otherwise = 32;
    constexpr std::uint64_t most = 1 << 16;
    const auto found = gguf_.metadata.find("general.alignment");
    if (found == gguf_.metadata.end()) return otherwise;
    const auto given = found->second.count();
    if (given && std::has_single_bit(*given) && *given >= 8 && *given <= most) return *given;
    fail("has 'general.alignment' = " + found->second.described() +
         "; expected a power of two from 8 to " + std::to_string(most));
    return otherwise;
  }

  static constexpr auto unsupported = Error::Kind::unsupported;
  static constexpr auto list_type = static_cast<std::uint32_t>(GgufType::list);

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::string where_;
  std::string problem_;
  Error::Kind kind_ = Error::Kind::malformed;
  Gguf gguf_;
};

}  // namespace

Result<Gguf> parse_gguf(std::span<const std::byte> bytes) {
  return Parser(bytes).run();
}

}  // namespace kv::model
