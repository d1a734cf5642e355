// The parameters that policies with a window of voting queries share.
#pragma once

#include <array>
#include <string_view>

#include "kvcheck/policies/entry.h"

namespace kv {

// How many of the last queries vote: the window of policies/parts/recent_votes.h.
inline constexpr Parameter voting_window = {.name = "window",
                                            .default_value = "32",
                                            .meaning = "how many of the last queries vote",
                                            .range = counts(1, 4096)};

inline constexpr auto pooling_kernels =
    std::array<std::string_view, 7>{"1", "3", "5", "7", "9", "11", "13"};

// Over how many neighbours votes are pooled: the kernel of policies/parts/recent_votes.h.
inline constexpr Parameter pooling_kernel = {
    .name = "kernel",
    .default_value = "7",
    .choices = pooling_kernels,
    .meaning =
        "the number of neighbours over which votes are pooled, with the token itself in their "
        "middle"};

}  // namespace kv
