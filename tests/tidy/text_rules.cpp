#include "kvcheck/tests/tidy/text_rules.h"

#include <algorithm>
#include <array>

namespace kv::tidy {
namespace {

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string at(const SourceFile& file, std::size_t index) {
  return file.path + ":" + std::to_string(index + 1) + ": ";
}

// Words and the paths (beginnings or ends of paths) that may use them.
struct Ban {
  std::vector<std::string_view> words;
  std::vector<std::string_view> begins;
  std::vector<std::string_view> ends;
  std::string_view instead;
};

const std::array<Ban, 14> bans = {{
    {{"rand(", "srand(", "rand_r(", "drand48(", "std::random_device", "<random>", "std::mt19937"},
     {},
     {},
     "draw through base/random/"},
    {{"system_clock", "steady_clock", "high_resolution_clock", "clock_gettime", "gettimeofday",
      "std::time", "std::clock", "time(nullptr)"},
     {"cli/", "bench/", "tests/"},
     {},
     "clocks belong to cli/ and bench/"},
    {{"std::cout", "std::cerr", "std::clog", "printf(", "fprintf(", "puts(", "fputs(", "perror(",
      "putchar(", "putc(", "stdout", "stderr"},
     {"cli/main.cpp", "base/check.cpp", "tests/", "bench/", "fuzz/main.cpp"},
     {},
     "return text; cli/main.cpp prints"},
    {{"STDOUT_FILENO", "STDERR_FILENO", "write(1,", "write(2,"},
     {"cli/main.cpp", "tests/", "bench/",
      // The main function of a user's tests, and a signal handler.
      "cli/check/conformance_main.cpp", "cli/options/shortened_file.cpp",
      // The program inside a Python process.
      "python/bindings/program.cpp",
      // They run child processes, and redirect what these print.
      "properties/remote/", "properties/cases/child"},
     {},
     "return text; cli/main.cpp prints"},
    {{"exit(", "_exit(", "_Exit(", "quick_exit(", "abort(", "raise(", "kill(", "std::terminate"},
     {"cli/", "base/check.cpp", "tests/", "bench/", "examples/", "fuzz/main.cpp",
      // They run child processes: these end without a return, and may have to be ended.
      "properties/remote/", "properties/cases/child"},
     {},
     "return an Error, or KV_CHECK what only a bug can break"},
    {{"sleep(", "usleep(", "nanosleep(", "sleep_for", "sleep_until"},
     {"cli/", "tests/", "bench/",
      // They wait for child processes.
      "properties/remote/", "properties/cases/child.cpp"},
     {},
     "libraries do not wait"},
    {{"directory_iterator", "recursive_directory_iterator", "remove_all"},
     {"tests/", "bench/", "fuzz/"},
     {},
     "they abort if memory runs out; list and remove folders with base/folder.h"},
    {{"thread_local"},
     {"base/threads/of_this_thread.h", "tests/", "bench/",
      // A pointer and numbers, which nothing has to destroy.
      "sim/steps/decision_log.cpp", "python/bindings/forks.cpp", "python/bindings/interrupt.cpp"},
     {},
     "the C library ends the program if no memory is left to note its destructor; use "
     "of_this_thread (base/threads/of_this_thread.h)"},
    {{"std::ostringstream", "std::stringstream"},
     {"base/text/text_stream.h", "tests/", "bench/", "fuzz/", "examples/"},
     {},
     "they drop text if memory runs out; write to a TextStream (base/text/text_stream.h)"},
    {{"throw"},
     {"cli/", "base/check.cpp", "tests/", "bench/", "examples/",
      // Whatever a subject throws is a finding (properties/subject.h): those behind another
      // interface throw what went wrong there, and one place catches it for all.
      "properties/remote/", "properties/conformance/simple_family.cpp",
      "properties/conformance/tensor_family.cpp", "properties/conformance/tensor_reader.cpp",
      "properties/case_run.cpp", "properties/subjects/spec_caches.cpp",
      // Exceptions are Python's errors, and pybind11's.
      "python/bindings/",
      // The C library's lack of memory, which is no Error of a caller.
      "base/threads/of_this_thread.h",
      // Lack of memory that is met while a policy of a user runs.
      "policies/guarded.h",
      // What no caller can go on after: no child process, a right subject that breaks a law, or a
      // user who asks to stop.
      "properties/cases/child.cpp", "properties/selftest/selftest.cpp", "properties/stop.cpp"},
     {},
     "return an Error, or KV_CHECK what only a bug can break"},
    {{"new"}, {}, {}, "own with std::vector or std::make_unique"},
    {{"delete"}, {}, {}, "own with std::vector or std::make_unique"},
    {{"#pragma GCC target", "KV_AVX512_BEGIN", "<immintrin.h>"},
     {},
     {"_avx512.cpp", "_avx512.h"},
     "instruction sets belong to *_avx512.cpp, below its includes, and to the *_avx512.h they "
     "share"},
    {{"HWY_BEFORE_NAMESPACE", "<hwy/"},
     {},
     {"_highway.cpp", "_highway.h"},
     "targets of Highway belong to *_highway.cpp and to the *_highway.h that they share"},
}};

bool is_allowed(const Ban& ban, std::string_view path) {
  return std::ranges::any_of(ban.begins, [&](auto begin) { return path.starts_with(begin); }) ||
         std::ranges::any_of(ban.ends, [&](auto end) { return path.ends_with(end); });
}

// `= delete` declares; `#include <new>` names a header.
bool is_expression(std::string_view word, std::string_view line) {
  if (word == "delete") return line.find("= delete") == std::string_view::npos;
  if (word == "new") return !line.starts_with("#include");
  return true;
}

// The names of every "x_policy()" that the header declares to return an entry.
std::vector<std::string> entries(const SourceFile& file) {
  constexpr std::string_view before = "PolicyEntry ";
  std::vector<std::string> found;
  const std::string code = code_of(file.text);
  for (std::size_t at = code.find(before); at != std::string::npos; at = code.find(before, at)) {
    at += before.size();
    const std::string name = code.substr(at, code.find('(', at) - at);
    if (name.ends_with("_policy")) found.push_back(name);
  }
  return found;
}

bool is_policy_header(const SourceFile& file) {
  return file.path.starts_with("policies/") && file.path.ends_with(".h") && !entries(file).empty();
}

// The words of a line that look like the name of a header or a source. "*_a.h" names several.
std::vector<std::string_view> names_in(std::string_view line) {
  constexpr std::string_view in_names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*";
  std::vector<std::string_view> names;
  for (std::size_t begin = line.find_first_of(in_names), end = 0; begin != std::string_view::npos;
       begin = line.find_first_of(in_names, end)) {
    end = std::min(line.find_first_not_of(in_names, begin), line.size());
    std::string_view name = line.substr(begin, end - begin);
    while (name.ends_with('.')) name.remove_suffix(1);
    while (name.starts_with('/')) name.remove_prefix(1);
    if (is_source(name) && !name.starts_with('.') && name.find('*') == std::string_view::npos) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace

Findings sizes(const SourceFile& file) {
  Findings findings;
  if (!is_source(file.path)) return findings;
  const std::vector<std::string_view> lines = lines_of(file.text);
  if (lines.size() > most_lines) {
    findings.push_back(at(file, most_lines) + "the file has " + std::to_string(lines.size()) +
                       " lines; at most " + std::to_string(most_lines));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (columns(lines[i]) > most_columns) findings.push_back(at(file, i) + "more than 100 columns");
    if (lines[i].ends_with(' ')) findings.push_back(at(file, i) + "a blank at the line's end");
    if (lines[i].find('\t') != std::string_view::npos) findings.push_back(at(file, i) + "a tab");
  }
  return findings;
}

Findings banned_words(const SourceFile& file) {
  Findings findings;
  if (!is_source(file.path)) return findings;
  const std::string code = code_of(file.text);
  const std::vector<std::string_view> lines = lines_of(code);
  for (const Ban& ban : bans) {
    if (is_allowed(ban, file.path)) continue;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const std::string_view word : ban.words) {
        if (!has_word(lines[i], word) || !is_expression(word, lines[i])) continue;
        findings.push_back(at(file, i) + std::string(word) + ": " + std::string(ban.instead));
      }
    }
  }
  return findings;
}

Findings policy_headers(const SourceFile& file) {
  Findings findings;
  if (!is_policy_header(file)) return findings;
  for (const std::string_view line : {"// Source: ", "// Differs", "// Cost"}) {
    if (file.text.find("\n" + std::string(line)) == std::string::npos) continue;
    findings.push_back(file.path + ":1: a policy's header has the line '" + std::string(line) +
                       "', which its entry says");
  }
  return findings;
}

Findings unregistered_policies(const std::vector<SourceFile>& files) {
  Findings findings;
  const SourceFile* registry = find(files, "policies/registry/registry.cpp");
  for (const SourceFile& file : files) {
    if (!is_policy_header(file)) continue;
    for (const std::string& entry : entries(file)) {
      if (registry != nullptr && has_word(registry->text, entry)) continue;
      findings.push_back(file.path + ":1: policies/registry/registry.cpp does not list " + entry);
    }
  }
  return findings;
}

Findings lost_names(const SourceFile& file, const std::set<std::string>& paths) {
  // A project, a user's file, and what the rules say of any x.
  constexpr std::array<std::string_view, 4> of_others = {"llama.cpp", "mine.cpp", "x.h", "x.cpp"};
  Findings findings;
  if (!is_source(file.path)) return findings;
  const std::string comments = comments_of(file.text);
  const std::vector<std::string_view> lines = lines_of(comments);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::string_view name : names_in(lines[i])) {
      if (name.starts_with("kvcheck/")) name.remove_prefix(8);
      const std::string end = "/" + std::string(name);
      const bool found =
          paths.contains(std::string(name)) ||
          std::ranges::any_of(paths, [&](const std::string& path) { return path.ends_with(end); });
      if (found || std::ranges::find(of_others, name) != of_others.end()) continue;
      findings.push_back(at(file, i) + "there is no file '" + std::string(name) + "'");
    }
  }
  return findings;
}

}  // namespace kv::tidy
