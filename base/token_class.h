// What kind of word a token is, as far as its own text tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace kv {

enum class TokenClass : std::uint8_t {
  content,    // everything else
  function,   // a word that carries grammar rather than meaning: the, of, and, ...
  separator,  // nothing but punctuation and line ends
};

// The class of a token's text. Blanks around it and capitals do not count; a piece of a longer word
// is judged alone, so "the" of "theme" is a function word. Text of blanks only is a function word
// unless it has a line end. Bytes beyond ASCII are content.
//
// The list of function words is ours: English determiners, pronouns, prepositions, conjunctions,
// auxiliary verbs and particles of one word.
TokenClass token_class_of(std::string_view text);

}  // namespace kv
