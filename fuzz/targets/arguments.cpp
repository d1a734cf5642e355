#include <algorithm>
#include <sstream>
#include <string>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/commands.h"
#include "kvcheck/cli/policies/policies.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {
namespace {

const cli::Command* command_of(const std::string& name) {
  for (const cli::Command* command : cli::commands()) {
    if (command->name == name) return command;
    for (const cli::Command* verb : command->verbs) {
      if (verb->name == name) return verb;
    }
  }
  return nullptr;
}

// `kvcheck policies` writes no files, so any arguments may be given to it.
void try_policies(std::span<const std::string> words) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams streams{.out = out, .err = err, .terminal = false, .columns = 80};
  const int status = cli::run_command(cli::policies_command, words, streams);
  KV_CHECK(status == cli::exit_status::done || status == cli::exit_status::bad_input);
  KV_CHECK((status == cli::exit_status::done) == err.str().empty());
  const std::string all = out.str() + err.str();
  // A terminal obeys no control character but the newline.
  KV_CHECK(std::ranges::none_of(all, [](unsigned char c) { return c < 0x20 && c != '\n'; }));
}

}  // namespace

bool arguments(Input input) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text_of(input), '\0')) words.emplace_back(word);
  const cli::Command* command = command_of(words.front());
  if (command == nullptr) return false;
  words.erase(words.begin());
  if (command == &cli::policies_command) try_policies(words);
  const Result<cli::Arguments> parsed = cli::Arguments::parse(command->options, words);
  if (!parsed) return refused(parsed.error());
  std::size_t values = parsed->operands().size();
  for (const cli::Option& option : command->options) {
    if (parsed->given(option.name))
      values += std::max<std::size_t>(1, parsed->values(option.name).size());
    const auto count = parsed->count(option.name, 1, 100);
    if (count && *count) KV_CHECK(**count >= 1 && **count <= 100);
    const auto counts = parsed->counts(option.name, 1, 100);
    if (!counts) continue;
    for (const std::uint64_t one : *counts) KV_CHECK(one >= 1 && one <= 100);
  }
  KV_CHECK(values <= words.size());
  return true;
}

}  // namespace kv::fuzz
