#include "kvcheck/cli/shell/complete.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/shell/spec_words.h"
#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/law_filter.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 6> top_words = {"help",   "completion", "man",
                                                       "--help", "--version",  "--load"};

Words beginning(std::string_view part, const Words& words) {
  Words some;
  std::ranges::copy_if(words, std::back_inserter(some),
                       [&](const std::string& word) { return word.starts_with(part); });
  return some;
}

Words command_names(std::span<const Command* const> commands) {
  Words names;
  for (const Command* const command : commands) names.emplace_back(command->name);
  return names;
}

// The verbs in the usage lines of the help, "kvcheck trace VERB",
// most of which are no commands of their own.
Words verbs_of(const Command& command) {
  Words verbs;
  if (command.verbs.empty()) return verbs;
  const std::string before = "kvcheck " + std::string(command.name) + " ";
  for (std::size_t at = command.help.find(before); at != std::string_view::npos;
       at = command.help.find(before, at + 1)) {
    const std::string_view rest = command.help.substr(at + before.size());
    const std::string verb(rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz")));
    if (!verb.empty() && std::ranges::find(verbs, verb) == verbs.end()) verbs.push_back(verb);
  }
  return verbs;
}

// The options of the command, which are those of a verb if the second word is one.
std::span<const Option> options_of(const Command& command, std::span<const std::string> words) {
  const Command* const verb = words.empty() ? nullptr : find_verb(command, words[0]);
  return verb == nullptr ? command.options : verb->options;
}

// "f32|f16|bf16" is a choice; a word in capitals stands for something else.
Words choices_in(std::string_view value) {
  Words choices;
  if (value.find('|') == std::string_view::npos) return choices;
  for (const std::string_view word : split(value, '|')) choices.emplace_back(word);
  return choices;
}

Words law_ids() {
  Words ids;
  for (const properties::Law* const law : properties::laws_named({}).value()) {
    ids.emplace_back(law->id);
  }
  return ids;
}

Words values_of(const Option& option, const Command& command, std::string_view part) {
  if (option.value == "LAW") return beginning(part, law_ids());
  if (option.value != "SPEC") return beginning(part, choices_in(option.value));
  Words words = spec_words(part);
  if (command.name == "replay" && std::string_view("all").starts_with(part)) {
    words.emplace_back("all");
  }
  return words;
}

Words operands_of(const Command& command, std::string_view part) {
  if (command.name == "check" || command.name == "uniformity" || command.name == "policies") {
    return spec_words(part);
  }
  const std::string_view generator = "synthetic:";
  if (command.name != "replay" || part.empty() || !generator.starts_with(part.substr(0, 10))) {
    return {};
  }
  Words streams;
  for (const SyntheticEntry& entry : synthetic_registry()) {
    streams.push_back(std::string(generator) + std::string(entry.name));
  }
  return beginning(part, streams);
}

const Option* option_named(std::span<const Option> options, std::string_view word) {
  const auto found = std::ranges::find_if(options, [&](const Option& option) {
    return word == "--" + std::string(option.name) ||
           (option.letter != 0 && word == std::string("-") + option.letter);
  });
  return found == options.end() ? nullptr : &*found;
}

// `words` are those after the command's name.
Words of_command(const Command& command, std::span<const std::string> words) {
  const std::string& part = words.back();
  const std::span<const Option> options = options_of(command, words);
  if (words.size() > 1) {
    const Option* const before = option_named(options, words[words.size() - 2]);
    if (before != nullptr && !before->value.empty()) return values_of(*before, command, part);
  }
  if (const std::size_t equals = part.find('='); part.starts_with("--") && equals != part.npos) {
    const Option* const option = option_named(options, part.substr(0, equals));
    if (option == nullptr) return {};
    Words values = values_of(*option, command, std::string_view(part).substr(equals + 1));
    for (std::string& value : values) value.insert(0, part, 0, equals + 1);
    return values;
  }
  if (part.starts_with('-')) {
    Words names;
    for (const Option& option : options) names.push_back("--" + std::string(option.name));
    return beginning(part, names);
  }
  if (words.size() == 1 && !command.verbs.empty()) return beginning(part, verbs_of(command));
  if (words.size() == 1 && !command.first_words.empty()) {
    return beginning(part, {command.first_words.begin(), command.first_words.end()});
  }
  return operands_of(command, part);
}

}  // namespace

std::vector<std::string> completions(std::span<const Command* const> commands,
                                     std::span<const std::string> words) {
  while (words.size() > 2 && words[0] == "--load") words = words.subspan(2);
  if (words.empty()) return {};
  if (words.size() == 1) {
    Words names = command_names(commands);
    names.insert(names.end(), top_words.begin(), top_words.end());
    return beginning(words[0], names);
  }
  if (words[0] == "help" || words[0] == "man") {
    return words.size() == 2 ? beginning(words[1], command_names(commands)) : Words();
  }
  if (words[0] == "completion") {
    return words.size() == 2 ? beginning(words[1], {"bash", "zsh", "fish"}) : Words();
  }
  const auto found = std::ranges::find(commands, words[0], &Command::name);
  return found == commands.end() ? Words() : of_command(**found, words.subspan(1));
}

}  // namespace kv::cli
