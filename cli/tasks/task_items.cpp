#include "kvcheck/cli/tasks/task_items.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "kvcheck/base/text/describe.h"

namespace kv::cli {
namespace {

// How many tokens the model reads: all but the last of the longest answer or choice.
std::size_t tokens_read(const model::TaskStream& stream) {
  std::size_t longest = std::max<std::size_t>(stream.longest, 1);
  for (const auto& choice : stream.choices) longest = std::max(longest, choice.size());
  return stream.prompt.size() + longest - 1;
}

// Rotations beyond the training's texts, or embeddings that are not there, would answer instead of
// the policy.
Result<void> check_length(const model::TaskItem& item,
                          const model::TaskStream& stream,
                          std::size_t context) {
  if (context == 0 || tokens_read(stream) <= context) return {};
  return malformed("item " + shown(item.id) + ": found " + std::to_string(tokens_read(stream)) +
                   " tokens of context, question and the longest answer but its last; expected at "
                   "most the " +
                   std::to_string(context) + " that the model was trained on, or --beyond-context");
}

}  // namespace

Result<TaskItems> task_items_of(const Arguments& arguments,
                                const OpenedModel& opened,
                                bool longer_allowed) {
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
    if (const auto fits = check_length(read.items[i], *stream, context); !fits) {
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
  for (const model::TaskStream& stream : items.streams) {
    longest = std::max(longest, tokens_read(stream));
    if (tokens_read(stream) > context) ++count;
  }
  if (context == 0 || count == 0) return {};
  return {std::to_string(count) + " of " + std::to_string(items.streams.size()) +
          (items.streams.size() == 1 ? " item is" : " items are") + " longer than the " +
          std::to_string(context) + " tokens that the model was trained on, up to " +
          std::to_string(longest) + "; results also show what that costs"};
}

}  // namespace kv::cli
