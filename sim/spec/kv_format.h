// How keys and values are stored: as numbers; or as codes of a few bits with a scale per
// quantisation group, the newest tokens and the sinks in full precision.
//
//   f32  f16  bf16    numbers, in the same format for all tokens
//   int8              codes from -127 to 127, one scale per vector
//   int4              codes from -7 to 7, one scale per 32 channels
//   kivi4  kivi2      codes of 4 or 2 bits with a scale and a zero point: of values per 32 channels
//                     of a token, of keys per channel of 32 tokens that are quantised together
//
// Codes may be followed by fields, int4:recent=128,sinks=4 :
//   recent  how many of the newest tokens are in full precision, the query's own included
//           [0; kivi: 128]
//   sinks   how many of the stream's first tokens are in full precision [0]
//   full    the format of full precision: f32 (as fed), f16 or bf16 [f32]
//   group   the size of a quantisation group: channels (for kivi also tokens) that share a scale;
//           0: all channels of the vector [32; int8: 0]
//
// A token is quantised when it is no longer among the newest `recent`: once, in stream order, and
// at the same point whatever the chunks. The error of a number is at most half its quantisation
// group's step.
//
// Source: llama.cpp's q4_0 and q8_0 (quantisation groups of 32); Liu et al., "KIVI", ICML 2024,
// arXiv:2402.02750. Differs: scales and zero points are bf16, steps rounded up and zero points
// down, so that no number is out of reach; int4's codes are symmetric (q4_0 has one more, -8).
// KIVI's keys wait in a residual that fills to 128 tokens and is then emptied; here quantisation
// groups of 32 tokens leave it one at a time, so that 128 to 159 keys are in full precision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/base/number.h"

namespace kv {

struct Spec;

// Which codes old tokens are stored as.
enum class KvCodes { none, int8, int4, kivi4, kivi2 };

struct KvFormat {
  KvFormat() = default;

  // Every token alike. Not explicit: numbers are a format.
  // NOLINTNEXTLINE(google-explicit-constructor)
  KvFormat(Number number) : full(number) {}

  KvCodes codes = KvCodes::none;
  Number full = Number::f32;     // of tokens that are not quantised
  std::uint32_t group_size = 0;  // channels (kivi: also tokens) per scale; 0: all of a vector's
  std::uint32_t recent = 0;
  std::uint32_t sinks = 0;

  // Whether keys of several tokens share their scales.
  [[nodiscard]] bool groups_tokens() const {
    return codes == KvCodes::kivi4 || codes == KvCodes::kivi2;
  }

  // Whether the first or the newest tokens are stored otherwise than the rest.
  [[nodiscard]] bool has_tiers() const { return recent > 0 || sinks > 0 || groups_tokens(); }

  // Whether kernels read what is stored; else it is widened for them.
  [[nodiscard]] bool direct() const {
    return codes == KvCodes::none || (codes == KvCodes::int8 && group_size == 0 && !has_tiers());
  }

  // The words; parse_kv_format gives back an equal value.
  [[nodiscard]] std::string text() const;

  bool operator==(const KvFormat&) const = default;
};

// Errors name the bad word, what was expected there, and the nearest right word; a field that means
// nothing for the codes is one. They begin with `what`, the place of the text.
Result<KvFormat> parse_kv_format(std::string_view text, std::string_view what = "--storage");

// Whether a cache under the spec can be stored like this. Errors: keys to be rotated one by one
// that share scales with other tokens; vectors that are evaluated again, whose age says nothing;
// pages ranked by keys that are quantised later.
Result<void> check_format(const Spec& spec, const KvFormat& format);

}  // namespace kv
