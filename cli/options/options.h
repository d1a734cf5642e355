// Options of a command line, declared once: parsing and help read the same table.
//
//   constexpr Option table[] = {
//       {.name = "output", .letter = 'o', .value = "FILE", .help = "where to write"},
//       {.name = "budget", .value = "N,...", .help = "residents to keep"},
//       {.name = "policy", .value = "SPEC", .help = "a policy to run", .list = true},
//       {.name = "quiet", .help = "no progress"}};
//
// Accepted: --name value, --name=value, -o value, -ovalue, and -- after which every word is an
// operand. A lone - is an operand or a value. An option is given once unless it is a list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::cli {

struct Option {
  std::string_view name;             // without its dashes
  char letter = 0;                   // the short form; 0 if there is none
  std::string_view value{};          // the word for the value in help; empty for a switch
  std::string_view default_value{};  // used when the option is not given; empty: there is none
  std::string_view help;             // one line
  bool list = false;                 // may be repeated
};

// The arguments of one command line, parsed with a table of options.
class Arguments {
 public:
  // Errors name the word: unknown option (with the nearest), missing value, value for a switch,
  // repetition. The table must outlive the result.
  static Result<Arguments> parse(std::span<const Option> table,
                                 std::span<const std::string> arguments);

  // The arguments that are not options, in order.
  [[nodiscard]] std::span<const std::string> operands() const { return operands_; }

  // Whether the option was given. Here and below: requires `name` to be in the table.
  [[nodiscard]] bool given(std::string_view name) const;

  // The given value; otherwise the table's default, which may be empty.
  [[nodiscard]] std::string value(std::string_view name) const;

  // Every given value, in order; without any, the table's default if there is one.
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;

  // value() as a count in [minimum, maximum]; nothing if there is no value.
  [[nodiscard]] Result<std::optional<std::uint64_t>> count(std::string_view name,
                                                           std::uint64_t minimum,
                                                           std::uint64_t maximum) const;

  // value() as a comma-separated list of different counts; empty if there is no value.
  [[nodiscard]] Result<std::vector<std::uint64_t>> counts(std::string_view name,
                                                          std::uint64_t minimum,
                                                          std::uint64_t maximum) const;

  // An error unless the number of operands is in [minimum, maximum]; `what` names one of them.
  [[nodiscard]] Result<void> expect_operands(std::string_view what,
                                             std::size_t minimum,
                                             std::size_t maximum) const;

 private:
  explicit Arguments(std::span<const Option> table) : table_(table) {}

  // Takes the option at arguments[index] and its value; returns the index of the next argument.
  Result<std::size_t> take(std::span<const std::string> arguments, std::size_t index);

  std::span<const Option> table_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// The help text of a table, one option a line (more where the text is long).
std::string option_table(std::span<const Option> table);

}  // namespace kv::cli
