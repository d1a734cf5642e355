#include "kvcheck/model/kernels/block_codes.h"

#include "kvcheck/base/check.h"

namespace kv::model {
namespace {

// The sizes are parameters because clang-tidy's analyzer takes other constants for unknown numbers.
template <Quantisation kind,
          std::size_t weights = block_size(kind).weights,
          std::size_t bytes = block_size(kind).bytes>
void widen_as(const std::byte* row, std::size_t columns, float* out) {
  for (std::size_t i = 0; i < columns; i += 16) {
    const BlockGroup group = group_of<kind>(row + i / weights * bytes, i % weights);
    for (std::size_t j = 0; j < 16; ++j) {
      const auto byte = static_cast<unsigned>(group.low[j]);
      int code = kind == Quantisation::q8_0 ? static_cast<std::int8_t>(byte)
                                            : static_cast<int>(byte >> group.low_shift & 15U);
      if constexpr (high_mask<kind> != 0) {
        const auto above = static_cast<int>(group.high[j]) >> group.high_shift & high_mask<kind>;
        code += above * 16;
      }
      out[i + j] = group.scale * static_cast<float>(code - zero_code<kind>) - group.below;
    }
  }
}

}  // namespace

void widen_blocks(Quantisation kind, const std::byte* row, std::size_t columns, float* out) {
  KV_CHECK(block_size(kind).weights > 0 && columns % block_size(kind).weights == 0);
  switch (kind) {
    case Quantisation::q8_0:
      return widen_as<Quantisation::q8_0>(row, columns, out);
    case Quantisation::q4_0:
      return widen_as<Quantisation::q4_0>(row, columns, out);
    case Quantisation::q4_k:
      return widen_as<Quantisation::q4_k>(row, columns, out);
    case Quantisation::q5_k:
      return widen_as<Quantisation::q5_k>(row, columns, out);
    case Quantisation::q6_k:
      return widen_as<Quantisation::q6_k>(row, columns, out);
    default:
      return;
  }
}

}  // namespace kv::model
