// Messages about unknown words when there are too many valid ones to list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

// The `count` candidates nearest to `word` by edits, the nearest first; equally near ones keep
// their order. The distance of a candidate is that of its nearest part (split at . and -); it is at
// most 1 if the candidate contains the word.
std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> candidates,
                                            std::size_t count);

// "unknown law 'survivs'; did you mean 'survives'?", or, if no candidate is that near, "unknown law
// 'xyz'; nearest are 'a', 'b', 'c'; kvcheck check --list names all".
std::string unknown_among_many(std::string_view what,
                               std::string_view word,
                               std::span<const std::string_view> candidates,
                               std::string_view where_all_are);

}  // namespace kv
