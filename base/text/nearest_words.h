// Unknown words where there are too many right ones to name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

// The `count` candidates nearest to `word` by edits, the nearest first; of equals, the first. A
// candidate that holds the word, or one of whose parts (cut at . and -) is near it, is nearer.
std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> candidates,
                                            std::size_t count);

// "unknown law 'survivs'; did you mean 'survives'?", or, where nothing is that near, "unknown law
// 'xyz'; nearest are 'a', 'b', 'c'; kvcheck check --list names all".
std::string unknown_among_many(std::string_view what,
                               std::string_view word,
                               std::span<const std::string_view> candidates,
                               std::string_view where_all_are);

}  // namespace kv
