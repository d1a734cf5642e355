#include "kvcheck/base/text/json_line.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace kv {
namespace {

// Walks over a text that is known to be JSON.
class Walker {
 public:
  explicit Walker(std::string_view json) : json_(json) {}

  // The first character of the next value, or what ends an object or an array.
  char next() {
    constexpr std::string_view between = " \t\r\n,:";
    while (at_ < json_.size() && between.find(json_[at_]) != std::string_view::npos) ++at_;
    return at_ < json_.size() ? json_[at_] : '\0';
  }

  // Whether the next value begins so; then it is entered.
  bool enter(char begin) {
    if (next() != begin) return false;
    ++at_;
    return true;
  }

  // Without its quotes, as it is written.
  std::string_view take_string() {
    const std::size_t begin = ++at_;
    while (at_ < json_.size() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2U : 1U;
    at_ = std::min(at_ + 1, json_.size());
    return json_.substr(begin, at_ - 1 - begin);
  }

  void skip_value() {
    std::size_t depth = 0;
    do {
      const char first = next();
      if (first == '"') {
        take_string();
        continue;
      }
      if (first == '\0') return;
      if (first == '{' || first == '[') ++depth;
      if (first == '}' || first == ']') --depth;
      ++at_;
      if (depth == 0 && first != '}' && first != ']') skip_word();
    } while (depth > 0);
  }

  [[nodiscard]] std::size_t line() const {
    const std::string_view before = json_.substr(0, at_);
    return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  }

 private:
  // The rest of a number or of a word such as true.
  void skip_word() {
    constexpr std::string_view ends = " \t\r\n,]}";
    while (at_ < json_.size() && ends.find(json_[at_]) == std::string_view::npos) ++at_;
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

// Moves to the value of the field; false if the value is no object with it.
bool go_to_field(Walker& walker, std::string_view name) {
  if (!walker.enter('{')) return false;
  while (walker.next() == '"') {
    if (walker.take_string() == name) return true;
    walker.skip_value();
  }
  return false;
}

bool go_to_element(Walker& walker, std::size_t index) {
  if (!walker.enter('[')) return false;
  for (; index > 0 && walker.next() != ']'; --index) walker.skip_value();
  return walker.next() != ']';
}

// Takes the next step of a path, ".name" or "[3]".
bool go_on(Walker& walker, std::string_view& path) {
  if (path.front() == '.') {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(name.size());
    return go_to_field(walker, name);
  }
  const std::size_t end = std::min(path.find(']'), path.size());
  std::size_t index = 0;
  std::from_chars(path.data() + 1, path.data() + end, index);
  path.remove_prefix(std::min(end + 1, path.size()));
  return go_to_element(walker, index);
}

// Of "plan.replay: unknown field 'polices' ...", the path of the field itself.
std::string path_of(std::string_view sentence) {
  constexpr std::string_view unknown = ": unknown field '";
  const std::size_t end = sentence.find(": ");
  std::string path(sentence.substr(0, end));
  if (end == std::string_view::npos || !sentence.substr(end).starts_with(unknown)) return path;
  const std::string_view rest = sentence.substr(end + unknown.size());
  return path + "." + std::string(rest.substr(0, rest.find('\'')));
}

}  // namespace

std::size_t json_line(std::string_view json, std::string_view path) {
  Walker found(json);
  found.next();
  path.remove_prefix(std::min(path.find_first_of(".["), path.size()));
  while (!path.empty()) {
    Walker walker = found;
    if (!go_on(walker, path)) break;
    walker.next();
    found = walker;
  }
  return found.line();
}

Error with_line(Error error, std::string_view json, const std::string& name) {
  const std::string begin = "'" + name + "': ";
  if (!error.message.starts_with(begin)) return error;
  const std::string sentence = error.message.substr(begin.size());
  const std::string path = path_of(sentence);
  const bool is_path = !path.empty() && path.find(' ') == std::string::npos;
  if (!is_path || sentence.size() == path.size()) return error;
  const std::size_t line = json_line(json, path);
  error.message = "'" + name + "', line " + std::to_string(line) + ": " + sentence;
  return error;
}

}  // namespace kv
