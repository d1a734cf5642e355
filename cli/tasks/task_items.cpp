#include "kvcheck/cli/tasks/task_items.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "kvcheck/base/text/describe.h"

namespace kv::cli {
namespace {

// `generated`: tokens that may be; 0: as many as the longest right answer has.
std::size_t tokens_read(const model::TaskStream& stream, ItemUse use, std::size_t generated) {
  std::size_t longest = stream.answer.size();
  if (use == ItemUse::answered) {
    longest = std::max(longest, generated > 0 ? generated : stream.longest);
    for (const auto& choice : stream.choices) longest = std::max(longest, choice.size());
  }
  return stream.prompt.size() + longest - 1;
}

// Rotations beyond the training's texts, or embeddings that are not there, would answer instead of
// the policy.
Result<void> check_length(const model::TaskItem& item, std::size_t tokens, std::size_t context) {
  if (context == 0 || tokens <= context) return {};
  return malformed("item " + shown(item.id) + ": found " + std::to_string(tokens) +
                   " tokens of context, question and the longest answer or choice but its last; "
                   "expected at most the " +
                   std::to_string(context) + " that the model was trained on, or --beyond-context");
}

}  // namespace

Result<TaskItems> task_items_of(const Arguments& arguments,
                                const OpenedModel& opened,
                                ItemUse use,
                                bool longer_allowed) {
  std::size_t generated = 0;
  if (use == ItemUse::answered) {
    const auto given = arguments.count("answer-tokens", 1, 1U << 20U);
    if (!given) return given.error();
    generated = given->value_or(0);
  }
  const std::string path = arguments.value("tasks");
  const Result<std::string> text = text_of_file(arguments, "tasks");
  if (!text) return text.error();
  Result<std::vector<model::TaskItem>> items = model::parse_tasks(*text, path);
  if (!items) return items.error();
  TaskItems read{.checksum = XXH3_64bits(text->data(), text->size()), .items = *std::move(items)};
  const auto begin = begin_token(arguments, opened);
  const std::size_t context = longer_allowed ? 0 : opened.model.config.context;
  for (std::size_t i = 0; i < read.items.size(); ++i) {
    const auto at_line = [&](const Error& error) {
      const std::string line = std::to_string(model::line_of_item(*text, i));
      return Error{error.kind, "'" + path + "' line " + line + ": " + error.message};
    };
    auto stream = model::stream_of(read.items[i], *opened.tokenizer, begin);
    if (!stream) return at_line(stream.error());
    read.tokens.push_back(tokens_read(*stream, use, generated));
    if (const auto fits = check_length(read.items[i], read.tokens.back(), context); !fits) {
      return at_line(fits.error());
    }
    read.streams.push_back(*std::move(stream));
  }
  return read;
}

Result<void> check_no_text(const Arguments& arguments, std::span<const std::string_view> options) {
  for (const std::string_view name : options) {
    if (!arguments.given(name)) continue;
    return usage_error("--" + std::string(name) +
                       " is about a text; expected none of its options beside --tasks");
  }
  return {};
}

std::vector<std::string> length_notes(const TaskItems& items, const OpenedModel& opened) {
  const std::size_t context = opened.model.config.context;
  std::size_t longest = 0;
  std::size_t count = 0;
  for (const std::size_t tokens : items.tokens) {
    longest = std::max(longest, tokens);
    if (tokens > context) ++count;
  }
  if (context == 0 || count == 0) return {};
  return {std::to_string(count) + " of " + std::to_string(items.streams.size()) +
          (items.streams.size() == 1 ? " item is" : " items are") + " longer than the " +
          std::to_string(context) + " tokens that the model was trained on, up to " +
          std::to_string(longest) + "; results also show what that costs"};
}

}  // namespace kv::cli
