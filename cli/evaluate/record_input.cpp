#include "kvcheck/cli/evaluate/record_input.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "kvcheck/cli/evaluate/text_notes.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/model/run/text_streams.h"

namespace kv::cli {
namespace {

// What decides the numbers of a recording, besides the files and the tokens.
std::string command_of(const Arguments& arguments, std::span<const Option> table) {
  std::string command = "kvcheck record";
  for (const Option& option : table) {
    constexpr std::array<std::string_view, 6> others = {"model",   "text",  "output",
                                                        "threads", "quiet", "resume"};
    const bool decides = std::ranges::find(others, option.name) == others.end();
    if (!decides || !arguments.given(option.name)) continue;
    command += " --" + std::string(option.name) + " " + shell_word(arguments.value(option.name));
  }
  return command;
}

}  // namespace

Result<RecordedText> recorded_text(const Arguments& arguments, const OpenedModel& opened) {
  const Result<std::string> text = text_of_file(arguments);
  if (!text) return text.error();
  const auto tokens = arguments.count("tokens", 2, std::uint64_t{1} << 24);
  if (!tokens) return tokens.error();
  const auto skip = arguments.count("skip", 0, std::uint64_t{1} << 32);
  if (!skip) return skip.error();
  const auto before = begin_token(arguments, opened);
  auto made = model::streams_of(*text, *opened.tokenizer,
                                {.separator = arguments.value("split"),
                                 .begin = before,
                                 .mark = arguments.given("mark"),
                                 .tokens = skip->value() + tokens->value()});
  if (!made) return Error{made.error().kind, arguments.value("text") + ": " + made.error().message};
  std::vector<model::TokenId> stream = std::move(made->front());
  const auto begin = stream.begin() + (stream.front() == before ? 1 : 0);
  if (static_cast<std::size_t>(stream.end() - begin) < skip->value() + 2) {
    return usage_error("--skip " + arguments.value("skip") + " leaves too little of " +
                       arguments.value("text") + ", which has " +
                       std::to_string(stream.end() - begin) +
                       " tokens; expected at least 2 after the skipped ones");
  }
  stream.erase(begin, begin + static_cast<std::ptrdiff_t>(skip->value()));
  std::vector<std::string> notes = text_notes(arguments, *text, stream.size());
  std::ranges::copy(context_notes(stream.size(), opened.model.config.context),
                    std::back_inserter(notes));
  return RecordedText{.tokens = std::move(stream), .notes = std::move(notes)};
}

Result<std::string> identity_of(const Arguments& arguments,
                                std::span<const Option> table,
                                std::span<const model::TokenId> tokens) {
  auto items = items_of_path("model", arguments.value("model"));
  if (!items) return items.error();
  items->push_back(
      input_item("tokens", "of the text", XXH3_64bits(tokens.data(), tokens.size_bytes())));
  return identity_of_run(command_of(arguments, table), *items);
}

}  // namespace kv::cli
