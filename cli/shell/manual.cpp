#include "kvcheck/cli/shell/manual.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/cli/options/terminal.h"

namespace kv::cli {
namespace {

// Text that man(7) shows as it is: a backslash begins a request, a '-' may become a hyphen that
// cannot be copied into a shell, and a '.' or a quote at the start of a line begins a request.
std::string plain(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::string head(std::string_view name, std::string_view summary) {
  return ".TH " + upper(name) + " 1 \"\" \"kvcheck " + std::string(version) +
         "\" \"kvcheck manual\"\n.SH NAME\n" + plain(name) + " \\- " + plain(summary) + "\n";
}

// Lines that keep their breaks. man(1) indents them by seven columns and folds none, so those that
// would leave a terminal of 80 columns are folded here.
std::string as_it_is(const std::vector<std::string_view>& lines, bool examples) {
  constexpr std::size_t columns = 80 - 7;
  constexpr std::string_view heading = "Examples:\n";  // which folded() asks for
  std::string text(heading);
  for (const std::string_view line : lines) text.append(line).append("\n");
  text.pop_back();
  if (!examples) text.erase(0, heading.size());
  std::string shown = folded(text, columns);
  if (examples) shown.erase(0, heading.size());
  std::string out = ".nf\n";
  for (const std::string_view line : split(shown, '\n')) out += plain(line) + "\n";
  return out + ".fi\n";
}

std::string option_list(std::span<const Option> options) {
  std::string out;
  for (const Option& option : options) {
    out += ".TP\n";
    if (option.letter != 0) out += "\\fB\\-" + std::string(1, option.letter) + "\\fR, ";
    out += "\\fB\\-\\-" + plain(option.name) + "\\fR";
    if (!option.value.empty()) out += " \\fI" + plain(option.value) + "\\fR";
    out += "\n" + plain(option.help);
    if (!option.default_value.empty()) out += " [" + plain(option.default_value) + "]";
    if (option.list) out += "; may be repeated";
    out += "\n";
  }
  return out;
}

// A heading is a line such as "Examples:" or "Exit status: 0 ..."; its word becomes the section's.
std::string section_of(std::string_view first) {
  const std::size_t colon = first.find(':');
  if (colon == std::string_view::npos || colon > 20 || first.starts_with(' ')) return "";
  const std::string_view word = first.substr(0, colon);
  const bool words =
      std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0 || c == ' '; });
  return words ? upper(word) : "";
}

// A paragraph without its heading.
std::vector<std::string_view> body_of(const std::vector<std::string_view>& paragraph,
                                      bool has_heading) {
  std::vector<std::string_view> body = paragraph;
  if (!has_heading) return body;
  std::string_view& first = body.front();
  first.remove_prefix(first.find(':') + 1);
  while (first.starts_with(' ')) first.remove_prefix(1);
  if (first.empty()) body.erase(body.begin());
  return body;
}

std::vector<std::vector<std::string_view>> paragraphs_of(std::string_view text) {
  std::vector<std::vector<std::string_view>> paragraphs(1);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) {
      paragraphs.back().push_back(line);
    } else if (!paragraphs.back().empty()) {
      paragraphs.emplace_back();
    }
  }
  if (paragraphs.back().empty()) paragraphs.pop_back();
  return paragraphs;
}

// The help's paragraphs as sections; those without a heading are the description.
std::string sections(std::string_view help, std::span<const Option> options) {
  std::string synopsis;
  std::string description;
  std::string rest;
  for (const auto& paragraph : paragraphs_of(help)) {
    const std::string_view first = paragraph.front();
    if (first == "{options}") {
      rest += ".SH OPTIONS\n" + option_list(options);
      continue;
    }
    const std::string heading = section_of(first);
    const std::string body =
        as_it_is(body_of(paragraph, !heading.empty()), heading.starts_with("EXAMPLES"));
    if (heading == "USAGE") {
      synopsis += body;
    } else if (!heading.empty()) {
      rest += ".SH " + heading + "\n" + body;
    } else {
      (rest.empty() ? description : rest) += ".PP\n" + body;
    }
  }
  return ".SH SYNOPSIS\n" + synopsis + ".SH DESCRIPTION\n" + description + rest;
}

}  // namespace

std::string command_page(std::string_view name, const Command& command) {
  return head("kvcheck-" + std::string(name), command.summary) +
         sections(command.help, command.options) + ".SH SEE ALSO\nkvcheck(1)\n";
}

std::string small_page(std::string_view name, std::string_view help) {
  std::string_view summary = help.substr(0, help.find('\n'));
  if (summary.ends_with('.')) summary.remove_suffix(1);
  return head("kvcheck-" + std::string(name), summary) + sections(help, {}) +
         ".SH SEE ALSO\nkvcheck(1)\n";
}

std::string program_page(std::string_view help, std::span<const Command* const> commands) {
  std::string also;
  for (const Command* const command : commands) {
    also += (also.empty() ? "" : ",\n") + ("kvcheck\\-" + std::string(command->name)) + "(1)";
  }
  return head("kvcheck", "simulation and tests of key/value-cache eviction policies") +
         sections(help, {}) + ".SH SEE ALSO\n" + also + "\n";
}

}  // namespace kv::cli
