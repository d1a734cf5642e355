#include "kvcheck/cli/options/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

// Columns that a line takes: bytes but those that continue a character.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) ++width;
  }
  return width;
}

// Where the text beside a term begins: after the first two spaces that follow a word. Without such
// a gap, or with one beyond the middle of the line, the indentation of the line.
std::size_t hang_of(std::string_view line, std::size_t columns) {
  const std::size_t indent = line.find_first_not_of(' ');
  const std::size_t gap = line.find("  ", indent);
  const std::size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (text == std::string_view::npos || text > columns / 2) return indent;
  return width_of(line.substr(0, text));
}

// The words of a command, each option with its value, split at spaces that no quotes enclose.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : std::string(command) + " ") {
    if (c != ' ' || quote != 0) {
      word += c;
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      }
      continue;
    }
    if (word.empty()) continue;
    const bool value = !words.empty() && words.back().starts_with('-') && !word.starts_with('-') &&
                       words.back().find(' ') == std::string::npos;
    if (value) {
      words.back() += ' ' + word;
    } else {
      words.push_back(word);
    }
    word.clear();
  }
  return words;
}

// A command in lines that a shell takes for one: each but the last ends in a backslash.
std::string broken_command(std::string_view command, std::size_t indent, std::size_t columns) {
  std::string out;
  std::string row(indent, ' ');
  bool first = true;
  for (const std::string& word : words_of(command)) {
    if (!first && width_of(row) + 1 + width_of(word) + 2 > columns) {
      out += row + " \\\n";
      row.assign(indent + 4, ' ');
      first = true;
    }
    row += (first ? "" : " ") + word;
    first = false;
  }
  return out + row + "\n";
}

// Breaks lines at spaces. What is left of a long line flows into the next one if that continues the
// same paragraph, so that text that was broken for another width has no short lines in its middle.
class Folder {
 public:
  explicit Folder(std::size_t columns) : columns_(columns) {}

  void line(std::string_view line) {
    if (line.starts_with("Example") && line.ends_with(':')) {
      flush();
      examples_ = true;
    } else if (examples_ && line.starts_with("  ")) {
      example(line);
      return;
    } else {
      examples_ = false;
    }
    text_line(line);
  }

  std::string text() {
    flush();
    out_.pop_back();  // the last line has no end of its own
    return std::move(out_);
  }

 private:
  // A line of an example, which never flows into the next: what is copied has to be a command.
  void example(std::string_view line) {
    const bool open = line.ends_with('\\');
    example_lines_.append(line).append("\n");
    if (command_.empty()) indent_ = line.find_first_not_of(' ');
    command_.append(line.substr(0, line.size() - (open ? 1 : 0))).append(" ");
    too_wide_ = too_wide_ || width_of(line) > columns_;
    if (open) return;
    out_ += too_wide_ ? broken_command(command_, indent_, columns_) : example_lines_;
    example_lines_.clear();
    command_.clear();
    too_wide_ = false;
  }

  void text_line(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    // A line that begins with a word and a colon is an entry of a list.
    const std::string_view word = line.substr(indent, line.find(' ', indent) - indent);
    const bool continues = open_ && indent == hang_ && !word.empty() && !word.ends_with(':') &&
                           line.find("  ", indent) == std::string_view::npos;
    if (!continues) {
      flush();
      if (width_of(line) <= columns_) {
        out_.append(line).append("\n");
        return;
      }
      hang_ = hang_of(line, columns_);
      open_ = true;
      add(line);
      return;
    }
    add(" " + std::string(line.substr(indent)));
  }

  // The indentation, the term and its gap remain as they are; only words after them move.
  void add(std::string_view rest) {
    while (!rest.empty()) {
      const std::size_t word = std::min(rest.find_first_not_of(' '), rest.size());
      const std::size_t end = std::min(rest.find(' ', word), rest.size());
      const bool fits = width_of(row_) + width_of(rest.substr(0, end)) <= columns_;
      if (!fits && width_of(row_) > hang_) {
        out_ += row_ + "\n";
        row_.assign(hang_, ' ');
        rest.remove_prefix(word);
        continue;
      }
      if (!fits && row_.find_first_not_of(' ') != std::string::npos) {
        // A word that is too long for its place beside a term, as a spec may be, stands below it.
        const std::size_t indent = row_.find_first_not_of(' ') + 4;
        row_.resize(row_.find_last_not_of(' ') + 1);
        out_ += row_ + "\n";
        row_.assign(std::min(indent, hang_), ' ');
        rest.remove_prefix(word);
        continue;
      }
      row_ += rest.substr(0, end);
      rest.remove_prefix(end);
    }
  }

  void flush() {
    if (open_) out_ += row_ + "\n";
    row_.clear();
    open_ = false;
  }

  std::size_t columns_;
  std::size_t hang_ = 0;
  bool open_ = false;  // whether row_ is the unfinished rest of a long line
  std::string row_;
  std::string out_;

  bool examples_ = false;      // whether the lines are those of examples, of which one may be open:
  std::string example_lines_;  // its lines as given,
  std::string command_;        // and as one,
  std::size_t indent_ = 0;
  bool too_wide_ = false;
};

}  // namespace

std::size_t columns_of(int descriptor) {
  if (const char* const given = std::getenv("COLUMNS"); given != nullptr) {
    const std::string_view text = given;
    std::size_t columns = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), columns);
    const bool whole = status == std::errc() && end == text.data() + text.size();
    if (whole && columns >= 20 && columns <= 10000) return columns;
  }
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool colours_on(int descriptor) {
  const char* const none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* const terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return ::isatty(descriptor) == 1;
}

std::string folded(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  Folder folder(columns);
  for (const std::string_view line : split(text, '\n')) folder.line(line);
  return folder.text();
}

}  // namespace kv::cli
