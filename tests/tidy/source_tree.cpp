#include "kvcheck/tests/tidy/source_tree.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "kvcheck/base/text/text.h"

namespace kv::tidy {
namespace {

namespace fs = std::filesystem;

bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == "build" || name == "out" || (name.starts_with(".") && name != ".github");
}

bool is_text(const fs::path& path) {
  const std::string extension = path.extension().string();
  const std::string name = path.filename().string();
  return extension == ".cpp" || extension == ".h" || extension == ".cmake" || extension == ".md" ||
         extension == ".in" || extension == ".py" || name == "CMakeLists.txt" || name == "dev";
}

template <typename Visit>
void walk(const std::string& root, const Visit& visit) {
  for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
    if (at->is_directory() && is_skipped(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    visit(*at, fs::relative(at->path(), root).generic_string());
  }
}

bool in_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The end of the literal or comment that starts at `begin`; `begin` itself if none starts there.
std::size_t end_of_token(std::string_view text, std::size_t begin) {
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(begin);
  if (rest.starts_with("//")) return std::min(text.find('\n', begin), text.size());
  if (rest.starts_with("/*")) return after("*/", begin + 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = std::min(text.find('(', begin), text.size() - 1);
    return after(")" + std::string(text.substr(begin + 2, open - begin - 2)) + "\"", open);
  }
  // An apostrophe inside a number separates digits.
  const bool digits = begin > 0 && in_identifier(text[begin - 1]);
  if (rest[0] != '"' && (rest[0] != '\'' || digits)) return begin;
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == rest[0] || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

enum class Part { code, comment, literal };

// The text with all but one of its parts blanked out.
std::string only(std::string_view text, Part kept) {
  std::string out(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_token(text, i);
    const bool comment = text.substr(i, 2) == "//" || text.substr(i, 2) == "/*";
    const Part part = end == i ? Part::code : comment ? Part::comment : Part::literal;
    for (const std::size_t stop = std::max(end, i + 1); i < stop; ++i) {
      if (part != kept && out[i] != '\n') out[i] = ' ';
    }
  }
  return out;
}

}  // namespace

std::vector<SourceFile> read_tree(const std::string& root) {
  std::vector<SourceFile> files;
  walk(root, [&](const fs::directory_entry& entry, std::string path) {
    if (!entry.is_regular_file() || !is_text(entry.path())) return;
    std::string text(entry.file_size(), '\0');
    std::ifstream(entry.path(), std::ios::binary)
        .read(text.data(), static_cast<std::streamsize>(text.size()));
    files.push_back({std::move(path), std::move(text)});
  });
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::set<std::string> paths_in(const std::string& root) {
  std::set<std::string> paths;
  walk(root, [&](const fs::directory_entry&, std::string path) { paths.insert(std::move(path)); });
  return paths;
}

bool is_source(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".h");
}

const SourceFile* find(const std::vector<SourceFile>& files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &SourceFile::path);
  return found == files.end() ? nullptr : &*found;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string code_of(std::string_view text) {
  return only(text, Part::code);
}

std::string comments_of(std::string_view text) {
  return only(text, Part::comment);
}

std::string literals_of(std::string_view text) {
  return only(text, Part::literal);
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !in_identifier(word.front()) || !in_identifier(line[at - 1]);
    const bool ends =
        end == line.size() || !in_identifier(word.back()) || !in_identifier(line[end]);
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace kv::tidy
