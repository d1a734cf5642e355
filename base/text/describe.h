// Words for error messages: names from files, made safe to print on one line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kv {

// `name` between single quotes, with control characters escaped. Of a name longer than 80 bytes the
// first 80 are shown, followed by "...".
std::string shown(std::string_view name);

// The shortest text that reads back as this number of single precision: "1.007", where
// shortest(1.007F) has the digits of a double, "1.0069999694824219". Also "nan" and "-inf".
std::string shown(float number);

// "[4, 512, 32]".
std::string shown_shape(std::span<const std::size_t> shape);

// Computes the product of `sizes`. Returns false if it does not fit in 64 bits.
bool product(std::span<const std::size_t> sizes, std::uint64_t& result);

}  // namespace kv
