#include "kvcheck/tests/tidy/type_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "kvcheck/base/text/text.h"

namespace kv::tidy {
namespace {

// An open brace: a namespace with a name, or anything else, whose types are not visible outside.
struct OpenBrace {
  bool named = false;
  std::string name;  // empty for what takes no part in a name, as extern "C"
};

struct DefinedType {
  std::string name;  // with its namespaces
  std::size_t line = 0;
};

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

// Names and single signs; "::" is a part of a name.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end == i) ++end;
    if (text[i] != ' ' && text[i] != '\n') tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

// The words without those in <...> and (...): the arguments of templates, attributes and alignas.
std::vector<std::string> outermost(const std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  int depth = 0;
  for (const std::string& token : tokens) {
    const bool opens = token == "<" || token == "(" || token == "[";
    const bool closes = token == ">" || token == ")" || token == "]";
    if (depth == 0) out.push_back(token);
    depth += opens ? 1 : 0;
    depth -= closes && depth > 0 ? 1 : 0;
  }
  return out;
}

bool is_key(const std::string& token) {
  return token == "struct" || token == "class" || token == "union" || token == "enum";
}

// The name of the type that `words` begin to define; none of a specialisation, a function or a
// variable.
std::optional<std::string> type_in(const std::vector<std::string>& words) {
  auto at = std::ranges::find_if(words, is_key);
  if (at == words.end() || std::ranges::find(words, "=") != words.end()) return {};
  while (at != words.end() && (is_key(*at) || *at == "alignas" || !in_name(at->front()))) ++at;
  if (at == words.end() || *at == ":") return {};
  const auto next = std::next(at);
  const bool defines = next == words.end() || *next == ":" || *next == "final";
  return defines ? std::optional(*at) : std::nullopt;
}

// The name that `words`, up to a semicolon, make an alias; none of a using-declaration.
std::optional<std::string> alias_in(const std::vector<std::string>& words) {
  const auto at = std::ranges::find(words, "using");
  if (words.end() - at < 3 || *(at + 2) != "=") return {};
  return *(at + 1);
}

OpenBrace brace_after(const std::vector<std::string>& words) {
  const auto at = std::ranges::find(words, "namespace");
  if (at != words.end()) {
    if (std::next(at) == words.end()) return {};
    return {true, words.back()};
  }
  if (words.size() == 1 && words[0] == "extern") return {true, {}};
  return {};
}

// Removes preprocessor directives. A directive continues on the next line after a backslash.
std::string without_directives(std::string_view code) {
  std::string out;
  bool continued = false;
  for (const std::string_view line : lines_of(code)) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool directive = continued || (first != std::string_view::npos && line[first] == '#');
    continued = directive && line.ends_with('\\');
    out += (directive ? std::string() : std::string(line)) + "\n";
  }
  return out;
}

std::vector<DefinedType> types_in(const SourceFile& file) {
  std::vector<DefinedType> types;
  std::vector<OpenBrace> open;
  std::string before;  // since the last ; { or }
  std::size_t line = 1;
  for (const char c : without_directives(code_of(file.text))) {
    if (c == '\n') ++line;
    if (c == '{' || c == ';') {
      const auto words = outermost(tokens_of(before));
      if (std::ranges::all_of(open, &OpenBrace::named)) {
        std::string scope;
        for (const OpenBrace& brace : open) scope += brace.name.empty() ? "" : brace.name + "::";
        const auto name = c == '{' ? type_in(words) : alias_in(words);
        if (name) types.push_back({scope + *name, line});
      }
      if (c == '{') open.push_back(brace_after(words));
    }
    if (c == '}' && !open.empty()) open.pop_back();
    const bool ends = c == ';' || c == '{' || c == '}';
    before = ends ? std::string() : before + c;
  }
  return types;
}

bool is_own_program(std::string_view path) {
  constexpr std::array<std::string_view, 2> own = {"examples/", "tests/install/consumer/"};
  return std::ranges::any_of(own, [&](std::string_view begin) { return path.starts_with(begin); });
}

}  // namespace

Findings types_of_one_name(const std::vector<SourceFile>& files) {
  Findings findings;
  std::map<std::string, std::string> first;
  for (const SourceFile& file : files) {
    const bool source = file.path.ends_with(".cpp") || file.path.ends_with(".h");
    if (!source || is_own_program(file.path)) continue;
    for (const DefinedType& type : types_in(file)) {
      const std::string place = file.path + ":" + std::to_string(type.line);
      const auto [other, is_new] = first.emplace(type.name, place);
      if (!is_new) findings.push_back(place + ": " + type.name + " is " + other->second + " too");
    }
  }
  return findings;
}

}  // namespace kv::tidy
