// The project's own files as text, for the rules that read them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kv::tidy {

// One file: its path from the root of the source tree, with slashes, and its whole text.
struct SourceFile {
  std::string path;
  std::string text;
};

// The sources, templates, scripts, CMake files and Markdown files of the tree at `root`. Build
// folders and hidden files are left out.
std::vector<SourceFile> read_tree(const std::string& root);

// Every path of the tree, including folders and the files that read_tree leaves out (pictures,
// data).
std::set<std::string> paths_in(const std::string& root);

// Whether the path is that of a source or a header of ours.
bool is_source(std::string_view path);

// The file with this path; null if there is none.
const SourceFile* find(const std::vector<SourceFile>& files, std::string_view path);

std::vector<std::string_view> lines_of(std::string_view text);

// "base" for "base/file.cpp"; empty for a file in the root.
std::string_view folder_of(std::string_view path);

std::string lower(std::string_view text);

// The text of a source with all but its code, its comments or its string and character literals
// blanked out. Lines and columns do not change.
std::string code_of(std::string_view text);
std::string comments_of(std::string_view text);
std::string literals_of(std::string_view text);

// Whether `line` contains `word` and not only as a part of a longer identifier. A word may end in
// "(".
bool has_word(std::string_view line, std::string_view word);

}  // namespace kv::tidy
