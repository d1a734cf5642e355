#include "kvcheck/tests/fp16/rotations.h"

#include <array>
#include <cstring>

#include "kvcheck/model/rotation/rotate_kernels_detail.h"

namespace kv::fp16 {
namespace {

using model::RotatedRows;

std::byte* row_of(const RotatedRows& rows, std::size_t i) {
  return rows.rows + rows.slots[i] * rows.dim * 2;
}

std::uint16_t read(const std::byte* row, std::size_t i) {
  std::uint16_t number = 0;
  std::memcpy(&number, row + 2 * i, 2);
  return number;
}

void write(std::byte* row, std::size_t i, std::uint16_t number) {
  std::memcpy(row + 2 * i, &number, 2);
}

// The first operand of the kernel's multiplication is the row's, the second one the angle's. So the
// angles are made a row, and the row's pairs are given as angles.
void rotate_exchanged(const Rotate& right, const RotatedRows& rows, const std::uint16_t* angles) {
  std::vector<std::uint16_t> pairs(2 * rows.pairs);
  std::vector<std::uint16_t> products(2 * rows.pairs);
  const std::array<std::uint32_t, 1> slots = {0};
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::byte* row = row_of(rows, i);
    for (std::size_t pair = 0; pair < rows.pairs; ++pair) {
      const PairAt at = pair_at(rows.layout, rows.pairs, pair);
      pairs[2 * pair] = read(row, at.real);
      pairs[2 * pair + 1] = read(row, at.imaginary);
    }
    products.assign(angles, angles + 2 * rows.pairs);
    right({reinterpret_cast<std::byte*>(products.data()), 2 * rows.pairs, slots.data(), 1,
           RopeLayout::interleaved, rows.pairs},
          pairs.data());
    for (std::size_t pair = 0; pair < rows.pairs; ++pair) {
      const PairAt at = pair_at(rows.layout, rows.pairs, pair);
      write(row, at.real, products[2 * pair]);
      write(row, at.imaginary, products[2 * pair + 1]);
    }
  }
}

// As if the mask of the last lanes had one lane too few.
void rotate_all_but_the_last(const Rotate& right,
                             const RotatedRows& rows,
                             const std::uint16_t* angles) {
  if (rows.pairs == 0) return;
  const PairAt last = pair_at(rows.layout, rows.pairs, rows.pairs - 1);
  std::vector<Complex> kept;
  for (std::size_t i = 0; i < rows.count; ++i) {
    kept.push_back({read(row_of(rows, i), last.real), read(row_of(rows, i), last.imaginary)});
  }
  right(rows, angles);
  for (std::size_t i = 0; i < rows.count; ++i) {
    write(row_of(rows, i), last.real, kept[i].real);
    write(row_of(rows, i), last.imaginary, kept[i].imaginary);
  }
}

void rotate_and_write_on(const Rotate& right,
                         const RotatedRows& rows,
                         const std::uint16_t* angles) {
  right(rows, angles);
  for (std::size_t i = 0; i < rows.count; ++i) {
    *(row_of(rows, i) + 4 * rows.pairs) ^= std::byte{1};
  }
}

void rotate_the_first_twice(const Rotate& right,
                            const RotatedRows& rows,
                            const std::uint16_t* angles) {
  right(rows, angles);
  RotatedRows first = rows;
  first.count = rows.count == 0 ? 0 : 1;
  right(first, angles);
}

using Fault = void (*)(const Rotate&, const RotatedRows&, const std::uint16_t*);

}  // namespace

Rotate emulation() {
  return model::scalar_rotate_kernels.rotate_f16;
}

PairAt pair_at(RopeLayout layout, std::size_t pairs, std::size_t pair) {
  if (layout == RopeLayout::interleaved) return {2 * pair, 2 * pair + 1};
  return {pair, pairs + pair};
}

Rotate rotation_by(Arithmetic arithmetic) {
  return [arithmetic](const RotatedRows& rows, const std::uint16_t* angles) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::byte* row = row_of(rows, i);
      for (std::size_t pair = 0; pair < rows.pairs; ++pair) {
        const PairAt at = pair_at(rows.layout, rows.pairs, pair);
        const Complex result = arithmetic({read(row, at.real), read(row, at.imaginary)},
                                          {angles[2 * pair], angles[2 * pair + 1]});
        write(row, at.real, result.real);
        write(row, at.imaginary, result.imaginary);
      }
    }
  };
}

std::vector<WrongRotation> wrong_rotations(const Rotate& right) {
  std::vector<WrongRotation> wrong;
  const auto add = [&](const std::string& name, Fault fault) {
    wrong.push_back({name, [right, fault](const RotatedRows& rows, const std::uint16_t* angles) {
                       fault(right, rows, angles);
                     }});
  };
  add("this kernel's operands exchanged", rotate_exchanged);
  add("the last pair of a row left out", rotate_all_but_the_last);
  add("a byte behind the pairs written", rotate_and_write_on);
  add("the first row rotated twice", rotate_the_first_twice);
  for (const WrongArithmetic& arithmetic : wrong_arithmetics()) {
    wrong.push_back({std::string(arithmetic.name), rotation_by(arithmetic.of)});
  }
  return wrong;
}

}  // namespace kv::fp16
