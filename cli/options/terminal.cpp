#include "kvcheck/cli/options/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

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

// Breaks lines at spaces. What is left of a long line flows into the next one if that continues the
// same paragraph, so that text that was broken for another width has no short lines in its middle.
class Folder {
 public:
  explicit Folder(std::size_t columns) : columns_(columns) {}

  void line(std::string_view line) {
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

  std::string text() {
    flush();
    out_.pop_back();  // the last line has no end of its own
    return std::move(out_);
  }

 private:
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
