// The words of a spec's settings, in the order of their enumerators (sim/spec/settings.h).
#pragma once

#include <array>
#include <string_view>

namespace kv {

inline constexpr std::array<std::string_view, 3> timing_words = {"attend-then-trim",
                                                                 "trim-then-attend", "lazy"};
inline constexpr std::array<std::string_view, 3> visibility_words = {"causal", "window",
                                                                     "top-pages"};
inline constexpr std::array<std::string_view, 3> positions_words = {"absolute", "in-cache",
                                                                    "shifted"};
inline constexpr std::array<std::string_view, 4> unit_words = {"head", "kv-head", "layer", "model"};
inline constexpr std::array<std::string_view, 4> compress_words = {"always", "never", "prompt",
                                                                   "question"};
inline constexpr std::array<std::string_view, 3> then_words = {"grow", "hold", "every"};
inline constexpr std::array<std::string_view, 2> vectors_words = {"kept", "re-evaluated"};

}  // namespace kv
