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

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

const Retired* find_retired(std::string_view word) {
  const auto found = std::ranges::find(in_both, word, &Retired::word);
  return found == in_both.end() ? nullptr : &*found;
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

// "in turn" and "turns out" are idioms of plain English.
bool is_idiom(std::string_view text, std::size_t at, std::string_view word) {
  if (word == "turn") return at >= 3 && lower(text.substr(at - 3, 3)) == "in ";
  return word == "turns" && lower(text.substr(at + word.size(), 4)) == " out";
}

void find_words(const SourceFile& file, std::string_view text, Findings& findings) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    each_word(lines[i], [&](const std::string& word, std::size_t at) {
      const Retired* const found = find_retired(word);
      if (found == nullptr || is_idiom(lines[i], at, word)) return;
      findings.push_back(file.path + ":" + std::to_string(i + 1) + ": '" + word +
                         "' is retired; see GLOSSARY.md, perhaps '" + std::string(found->instead) +
                         "'");
    });
  }
}

std::string without_includes(std::string code) {
  for (std::size_t at = code.find("#include"); at != std::string::npos;
       at = code.find("#include", at + 1)) {
    for (std::size_t i = at; i < code.size() && code[i] != '\n'; ++i) code[i] = ' ';
  }
  return code;
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
  if (file.path.ends_with(".md")) {
    find_words(file, prose_of(file.text), findings);
  } else if (file.path.ends_with(".h") || file.path.ends_with(".cpp")) {
    find_words(file, without_includes(code_of(file.text)), findings);
    if (file.path.ends_with(".h")) find_words(file, comments_of(file.text), findings);
  }
  return findings;
}

}  // namespace kv::tidy
