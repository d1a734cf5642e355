#include "kvcheck/tests/tidy/parser_rules.h"

#include <algorithm>
#include <array>
#include <set>

#include "kvcheck/base/text/text.h"

namespace kv::tidy {
namespace {

constexpr std::array<std::string_view, 4> verbs = {"parse", "read", "open", "load"};
constexpr std::array<std::string_view, 8> foreign = {
    "std::string_view", "std::byte>",      "std::string&",       "JsonAt&", "path&",
    "Safetensors&",     "map<std::string", "<const std::string>"};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_verb(std::string_view name) {
  return std::ranges::any_of(verbs, [&](std::string_view verb) {
    return name.starts_with(verb) && (name.size() == verb.size() || name[verb.size()] == '_');
  });
}

// The last class or struct that begins before `end`.
std::string class_before(std::string_view code, std::size_t end) {
  std::size_t best = 0;
  std::string_view name;
  for (const std::string_view keyword : {"class ", "struct "}) {
    const std::size_t found = code.substr(0, end).rfind(keyword);
    if (found == std::string_view::npos || found < best) continue;
    best = found;
    name = code.substr(found + keyword.size());
    name = name.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(name, in_word) - name.begin()));
  }
  return std::string(name);
}

// The declaration whose name begins at `at`: its name if it is a parser, else nothing.
std::string parser_at(std::string_view code, std::size_t at, std::string_view name) {
  const std::size_t begin = code.find_last_of(";{}", at) + 1;  // 0 where nothing stands before
  const std::string_view before = code.substr(begin, at - begin);
  const std::size_t open = at + name.size();
  const std::string_view arguments = code.substr(open, code.find(')', open) - open);
  if (before.find_first_of("(=") != std::string_view::npos || has_word(before, "return")) return {};
  const bool json = arguments.find("JsonAt&") != std::string_view::npos;
  if (!json && before.find("Result<") == std::string_view::npos) return {};
  if (!holds_any(arguments, foreign)) return {};
  // A function that is called read() alone reads an object that a parser made.
  const bool alone = name.find('_') == std::string_view::npos;
  if (!has_word(before, "static")) return alone ? std::string() : std::string(name);
  return class_before(code, at) + "::" + std::string(name);
}

bool is_layer(std::string_view path) {
  const std::string_view folder = folder_of(path);
  return folder != "tests" && folder != "fuzz" && folder != "bench" && folder != "examples";
}

bool is_called(const std::vector<SourceFile>& files, std::string_view parser) {
  return std::ranges::any_of(files, [&](const SourceFile& file) {
    return file.path.starts_with("fuzz/") && file.path.ends_with(".cpp") &&
           has_word(code_of(file.text), std::string(parser) + "(");
  });
}

}  // namespace

std::vector<std::string> parsers_in(const std::vector<SourceFile>& files) {
  std::set<std::string> parsers;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".h") || !is_layer(file.path)) continue;
    const std::string code = code_of(file.text);
    for (std::size_t end = code.find('('); end != std::string::npos;
         end = code.find('(', end + 1)) {
      std::size_t at = end;
      while (at > 0 && in_word(code[at - 1])) --at;
      const std::string_view name = std::string_view(code).substr(at, end - at);
      if (!is_verb(name)) continue;
      if (std::string parser = parser_at(code, at, name); !parser.empty()) {
        parsers.insert(std::move(parser));
      }
    }
  }
  return {parsers.begin(), parsers.end()};
}

Findings parsers_without_target(const std::vector<SourceFile>& files,
                                const std::vector<ParserWithoutTarget>& exempt) {
  Findings findings;
  const std::vector<std::string> parsers = parsers_in(files);
  for (const std::string& parser : parsers) {
    const bool called = is_called(files, parser);
    const bool listed = std::ranges::count(exempt, parser, &ParserWithoutTarget::parser) > 0;
    if (called && listed) {
      findings.push_back(parser + ": a fuzz target calls it, and it is listed as one without");
    }
    if (!called && !listed) {
      findings.push_back(parser +
                         ": no fuzz target calls it; add one to fuzz/targets, or to an "
                         "existing one");
    }
  }
  for (const ParserWithoutTarget& one : exempt) {
    const std::string name(one.parser);
    if (std::ranges::find(parsers, name) == parsers.end()) {
      findings.push_back(name + ": is listed, and no header declares such a parser");
    }
    if (one.through.empty() ? one.why.empty() : !is_called(files, one.through)) {
      findings.push_back(name + ": is fuzzed through '" + std::string(one.through) +
                         "', which no target calls");
    }
  }
  return findings;
}

Findings targets_without_corpus(const std::vector<SourceFile>& files,
                                const std::set<std::string>& paths) {
  std::set<std::string, std::less<>> targets;
  if (const SourceFile* table = find(files, "fuzz/target_table.cpp")) {
    for (const std::string_view line : lines_of(table->text)) {
      if (!line.starts_with("    {\"")) continue;
      targets.insert(std::string(line.substr(6, line.find('"', 6) - 6)));
    }
  }
  Findings findings;
  std::set<std::string, std::less<>> folders;
  for (const std::string& path : paths) {
    const std::vector<std::string_view> parts = split(path, '/');
    if (parts.size() == 4 && path.starts_with("fuzz/corpus/")) folders.emplace(parts[2]);
  }
  for (const std::string& target : targets) {
    if (!folders.contains(target)) findings.push_back("fuzz/corpus/" + target + ": has no input");
  }
  for (const std::string& folder : folders) {
    if (!targets.contains(folder)) findings.push_back("fuzz/corpus/" + folder + ": is no target");
  }
  return findings;
}

}  // namespace kv::tidy
