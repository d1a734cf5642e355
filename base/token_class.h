// The kind of word that a token is, judged by its own text alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace kv {

enum class TokenClass : std::uint8_t {
  content,    // everything else
  function,   // a word that carries grammar rather than meaning: the, of, and, ...
  separator,  // nothing but punctuation and line ends
};

// The class of a token's text. Blanks around it and case are ignored. A piece of a longer word is
// judged alone, so "the" of "theme" is a function word. Text that consists of blanks is a function
// word, unless it contains a line end, which makes it a separator. Bytes beyond ASCII are content.
//
// The list of function words is ours: English determiners, pronouns, prepositions, conjunctions,
// auxiliary verbs and particles of one word.
TokenClass token_class_of(std::string_view text);

}  // namespace kv
