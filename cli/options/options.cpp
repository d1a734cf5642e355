#include "kvcheck/cli/options/options.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

// An option as it is written on the command line.
struct Written {
  std::string_view name;                  // with its dashes
  std::optional<std::string_view> value;  // the rest of the same argument
};

bool is_option(std::string_view word) {
  return word.size() >= 2 && word[0] == '-';
}

Written take_apart(std::string_view word) {
  if (!word.starts_with("--")) {
    Written written{word.substr(0, 2), std::nullopt};
    if (word.size() > 2) written.value = word.substr(2);
    return written;
  }
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

const Option* find_written(std::span<const Option> table, std::string_view name) {
  for (const Option& option : table) {
    if (name.starts_with("--") ? name.substr(2) == option.name
                               : option.letter != 0 && name[1] == option.letter) {
      return &option;
    }
  }
  return nullptr;
}

const Option& find_named(std::span<const Option> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Option::name);
  KV_CHECK(found != table.end());
  return *found;
}

Error unknown_option(std::span<const Option> table, std::string_view name) {
  std::vector<std::string> spelled;
  for (const Option& option : table) spelled.push_back("--" + std::string(option.name));
  const std::vector<std::string_view> candidates(spelled.begin(), spelled.end());
  const bool load = name == "load" || name == "--load";
  return usage_error(
      unknown_word("option", name, candidates) +
      (load ? "; it is written before the command: kvcheck --load LIBRARY ..." : ""));
}

std::string spelled(const Option& option) {
  std::string out = option.letter == 0 ? "    " : std::string{'-', option.letter, ',', ' '};
  out += "--" + std::string(option.name);
  if (!option.value.empty()) out += " " + std::string(option.value);
  return out;
}

std::string explained(const Option& option) {
  std::string out(option.help);
  if (option.list) out += "; may be repeated";
  if (!option.default_value.empty()) out += " [" + std::string(option.default_value) + "]";
  return out;
}

// `text` in lines of at most `width` characters, unless a single word is longer.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace

Result<std::size_t> Arguments::take(std::span<const std::string> arguments, std::size_t index) {
  const Written written = take_apart(arguments[index]);
  const Option* const option = find_written(table_, written.name);
  if (option == nullptr) return unknown_option(table_, written.name);

  const std::string name = "--" + std::string(option->name);
  std::vector<std::string>& values = values_[std::string(option->name)];
  if (!values.empty() && !option->list) return usage_error(name + " is given more than once");
  if (option->value.empty()) {
    if (written.value) {
      return usage_error(name + " takes no value, but is given as '" +
                         printable_line(arguments[index]) + "'");
    }
    values.emplace_back();
    return index + 1;
  }
  if (written.value) {
    values.emplace_back(*written.value);
    return index + 1;
  }
  // If the next argument is an option of this command, the value is missing.
  const bool last = index + 1 == arguments.size();
  if (last || arguments[index + 1].starts_with("--") ||
      (is_option(arguments[index + 1]) && find_written(table_, arguments[index + 1]) != nullptr)) {
    return usage_error(
        name + " needs a value (" + std::string(option->value) + ")" +
        (last ? "" : ", but '" + printable_line(arguments[index + 1]) + "' follows"));
  }
  values.push_back(arguments[index + 1]);
  return index + 2;
}

Result<Arguments> Arguments::parse(std::span<const Option> table,
                                   std::span<const std::string> arguments) {
  Arguments parsed(table);
  for (std::size_t i = 0; i < arguments.size();) {
    if (arguments[i] == "--") {
      parsed.operands_.insert(parsed.operands_.end(),
                              arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              arguments.end());
      break;
    }
    if (!is_option(arguments[i])) {
      parsed.operands_.push_back(arguments[i]);
      ++i;
      continue;
    }
    const Result<std::size_t> next = parsed.take(arguments, i);
    if (!next) return next.error();
    i = *next;
  }
  return parsed;
}

bool Arguments::given(std::string_view name) const {
  find_named(table_, name);
  return values_.contains(name);
}

std::string Arguments::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::string() : all.front();
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  const Option& option = find_named(table_, name);
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  if (option.default_value.empty()) return {};
  return {std::string(option.default_value)};
}

Result<std::optional<std::uint64_t>> Arguments::count(std::string_view name,
                                                      std::uint64_t minimum,
                                                      std::uint64_t maximum) const {
  const std::vector<std::string> all = values(name);
  if (all.empty()) return std::optional<std::uint64_t>();
  const Result<std::uint64_t> value =
      parse_count(all.front(), "--" + std::string(name), minimum, maximum);
  if (!value) return value.error();
  return std::optional(*value);
}

Result<std::vector<std::uint64_t>> Arguments::counts(std::string_view name,
                                                     std::uint64_t minimum,
                                                     std::uint64_t maximum) const {
  std::vector<std::uint64_t> counts;
  std::set<std::uint64_t> seen;
  const std::vector<std::string> all = values(name);
  if (all.empty()) return counts;
  for (const std::string_view piece : split(all.front(), ',')) {
    const Result<std::uint64_t> value =
        parse_count(piece, "--" + std::string(name), minimum, maximum);
    if (!value) return value.error();
    if (!seen.insert(*value).second) {
      return usage_error("--" + std::string(name) + " names " + std::to_string(*value) + " twice");
    }
    counts.push_back(*value);
  }
  return counts;
}

Result<void> Arguments::expect_operands(std::string_view what,
                                        std::size_t minimum,
                                        std::size_t maximum) const {
  if (operands_.size() < minimum) {
    return usage_error("expected " + std::string(what) + ", found " +
                       (operands_.empty() ? "none" : "only " + std::to_string(operands_.size())));
  }
  if (operands_.size() > maximum) {
    return usage_error("unexpected argument '" + printable_line(operands_[maximum]) + "'");
  }
  return {};
}

std::string option_table(std::span<const Option> table) {
  constexpr std::size_t widest = 26;
  constexpr std::size_t line = 96;
  std::size_t column = 0;
  for (const Option& option : table) {
    column = std::max(column, std::min(spelled(option).size(), widest));
  }
  std::string out;
  for (const Option& option : table) {
    std::string left = "  " + spelled(option);
    for (const std::string& right : wrapped(explained(option), line - column - 4)) {
      if (left.size() > column + 2) {
        out += left + "\n";
        left.clear();
      }
      left.resize(column + 4, ' ');
      out += left + right + "\n";
      left.clear();
    }
  }
  return out;
}

}  // namespace kv::cli
