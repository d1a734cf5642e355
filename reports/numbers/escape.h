// Text from files and people, made safe to stand in HTML, Markdown or a gnuplot script.
#pragma once

#include <string>
#include <string_view>

namespace kv::reports {

// For element content and quoted attributes. Control characters and what is not UTF-8 become
// U+FFFD.
std::string html_escaped(std::string_view text);

// For a cell of a pipe table.
std::string markdown_escaped(std::string_view text);

// As a single-quoted gnuplot string, where nothing is expanded.
std::string gnuplot_quoted(std::string_view text);

// How many characters a terminal shows: code points of UTF-8.
std::size_t display_width(std::string_view text);

// The first `width` characters, the last of them an ellipsis when some are left out.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace kv::reports
