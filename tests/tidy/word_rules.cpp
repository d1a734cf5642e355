#include "kvcheck/tests/tidy/word_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kv::tidy {
namespace {

struct Retired {
  std::string_view word;
  std::string_view instead;
};

// Parts of identifiers, and words of prose. `choose` itself is plain English and may be used of
// people; a cache selects.
constexpr std::array<Retired, 24> in_both = {{
    {"turn", "rotate"},         {"turns", "rotates"},          {"turned", "rotated"},
    {"turning", "rotating"},    {"brought", "token inputs"},   {"told", "reported"},
    {"untold", "not reported"}, {"spared", "not applicable"},  {"spares", "not applicable"},
    {"wanted", "requested"},    {"chooses", "selects"},        {"chosen", "selected"},
    {"choosing", "selecting"},  {"meddled", "altered"},        {"meddler", "alteration"},
    {"veiled", "altered"},      {"bent", "altered"},           {"worth", "score"},
    {"nobody", "no token"},     {"whoever", "the token that"}, {"who", "which token"},
    {"whom", "which token"},    {"goes", "is evicted"},        {"stays", "is kept"},
}};

// These are not yet looked for where only code is.
constexpr std::array<Retired, 5> in_whole = {{
    {"stayed", "was kept"},
    {"elder", "older token"},
    {"elders", "older tokens"},
    {"somebody", "a token"},
    {"everybody", "every token"},
}};

// In these folders retired words are not yet looked for in literals, in comments of sources and in
// scripts. Shrink this list, and never add to it.
constexpr std::array<std::string_view, 1> only_code_yet = {"tests/properties/"};

// Files with English words as data.
constexpr std::array<std::string_view, 3> with_words = {
    "base/token_class.cpp", "model/training/text.py", "tests/model/decoder_test.cpp"};

// Words of frozen formats, which programs and files of users contain: "untold" and "wanted" are
// words of protocol 1. They may stand between quotes, and nowhere else.
constexpr std::array<std::string_view, 2> frozen = {"untold", "wanted"};

bool is_whole(std::string_view path) {
  const auto begins = [&](std::string_view folder) { return path.starts_with(folder); };
  return std::ranges::none_of(only_code_yet, begins) && std::ranges::none_of(with_words, begins);
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

const Retired* find_retired(std::string_view word, bool whole) {
  const auto found = std::ranges::find(in_both, word, &Retired::word);
  if (found != in_both.end()) return &*found;
  const auto newer = std::ranges::find(in_whole, word, &Retired::word);
  return whole && newer != in_whole.end() ? &*newer : nullptr;
}

// Whether a word of an identifier begins here: a capital after a small letter, or the last capital
// of several if a small letter follows, as in "KVTurn".
bool begins_word(std::string_view text, std::size_t i) {
  const auto is_upper = [&](std::size_t at) {
    return std::isupper(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto is_lower = [&](std::size_t at) {
    return at < text.size() && std::islower(static_cast<unsigned char>(text[at])) != 0;
  };
  return i > 0 && is_upper(i) && (is_lower(i - 1) || (is_upper(i - 1) && is_lower(i + 1)));
}

// Calls visit(word, offset) on every run of letters, cut where words of identifiers begin.
template <typename Visit>
void each_word(std::string_view text, const Visit& visit) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool letter = i < text.size() && is_letter(text[i]);
    const bool cut = letter && begins_word(text, i);
    if (letter && !cut) continue;
    if (i > begin) visit(lower(text.substr(begin, i - begin)), begin);
    begin = cut ? i : i + 1;
  }
}

// Plain English: "in turn", "turn off", "turn a sum into", "turns out", "goes to", "goes through".
bool is_idiom(std::string_view text, std::size_t at, std::string_view word) {
  const std::string before = lower(text.substr(0, at));
  const std::string after = lower(text.substr(at + word.size()));
  const auto begins = [&](std::string_view next) { return after.starts_with(next); };
  if (word == "turn" || word == "turns") {
    return before.ends_with("in ") || begins(" out") || after.find(" off") != std::string::npos ||
           after.find(" into ") != std::string::npos;
  }
  return word == "goes" && (begins(" to ") || begins(" through ") || begins(" on ") ||
                            begins(" by") || begins(" into "));
}

// The names of mutants and of right subjects are frozen: a word in a literal that a hyphen joins to
// another, as in "values-turned-too", belongs to such a name.
std::string without_names(std::string text) {
  const auto in_name = [](char c) { return is_letter(c) || c == '-'; };
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!in_name(text[begin])) continue;
    std::size_t end = begin;
    while (end < text.size() && in_name(text[end])) ++end;
    const bool name = text.substr(begin, end - begin).find('-') != std::string::npos;
    if (name) text.replace(begin, end - begin, end - begin, ' ');
    begin = end;
  }
  return text;
}

void find_words(const SourceFile& file, std::string_view text, Findings& findings) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    each_word(lines[i], [&](const std::string& word, std::size_t at) {
      const Retired* const found = find_retired(word, is_whole(file.path));
      if (found == nullptr || is_idiom(lines[i], at, word)) return;
      findings.push_back(file.path + ":" + std::to_string(i + 1) + ": '" + word +
                         "' is retired; see GLOSSARY.md, perhaps '" + std::string(found->instead) +
                         "'");
    });
  }
}

std::string without_includes(std::string_view source) {
  std::string text;
  for (const std::string_view line : lines_of(source)) {
    if (!line.starts_with("#include ")) text += line;
    text += '\n';
  }
  return text;
}

// "\\n" in a literal is not the first letter of the next word.
std::string without_escapes(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\\') text.replace(i++, 2, "  ");
  }
  return text;
}

// The text with quoted frozen words blanked out; the quotes may be escaped.
std::string without_frozen(std::string text) {
  for (const std::string_view word : frozen) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool opened = at > 0 && text[at - 1] == '"';
      const bool closed = end < text.size() && (text[end] == '"' || text[end] == '\\');
      if (opened && closed) text.replace(at, word.size(), word.size(), ' ');
    }
  }
  return text;
}

}  // namespace

std::string prose_of(std::string_view markdown) {
  std::string prose;
  bool block = false;
  for (const std::string_view line : lines_of(markdown)) {
    const bool fence = line.starts_with("```");
    if (fence) block = !block;
    std::string kept(fence || block ? std::string_view() : line);
    bool code = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] == '`') code = !code;
      if (code) kept[i] = ' ';
      const bool target = kept[i] == ']' && i + 1 < kept.size() && kept[i + 1] == '(';
      if (!target) continue;
      for (++i; i < kept.size() && kept[i] != ')'; ++i) kept[i] = ' ';
    }
    prose += kept + "\n";
  }
  return prose;
}

Findings retired_words(const SourceFile& file) {
  Findings findings;
  // The rules themselves and their test name the words; kill-matrix.md holds names of mutants.
  if (file.path.starts_with("tests/tidy/") || file.path == "docs/kill-matrix.md") return findings;
  const bool whole = is_whole(file.path);
  if (file.path.ends_with(".md")) {
    find_words(file, prose_of(file.text), findings);
  } else if (file.path.ends_with(".py") || file.path == "dev") {
    if (whole) find_words(file, without_frozen(file.text), findings);
  } else if (is_source(file.path)) {
    const std::string text = without_includes(file.text);
    find_words(file, code_of(text), findings);
    if (whole || file.path.ends_with(".h")) find_words(file, comments_of(text), findings);
    if (whole) {
      const std::string literals = without_escapes(without_frozen(literals_of(text)));
      find_words(file, without_names(literals), findings);
    }
  }
  return findings;
}

}  // namespace kv::tidy
