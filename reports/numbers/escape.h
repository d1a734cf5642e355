// Text from files and users, made safe for HTML, Markdown or a gnuplot script.
#pragma once

#include <string>
#include <string_view>

namespace kv::reports {

// `text` for element content and quoted attributes. Control characters and bytes that are not UTF-8
// become U+FFFD.
std::string html_escaped(std::string_view text);

// The same for elements that show line ends and tabs, as CSS has it with white-space: pre-wrap.
// They remain, and "\r\n" becomes "\n".
std::string html_lines_escaped(std::string_view text);

// `text` for a cell of a pipe table.
std::string markdown_escaped(std::string_view text);

// `text` as a single-quoted gnuplot string, in which nothing is expanded.
std::string gnuplot_quoted(std::string_view text);

// The number of characters that a terminal shows, counted as code points of UTF-8.
std::size_t display_width(std::string_view text);

// `text` in at most `width` characters; the last one is an ellipsis if some were left out.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace kv::reports
