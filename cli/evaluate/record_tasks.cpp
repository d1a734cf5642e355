#include "kvcheck/cli/evaluate/record_tasks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <vector>

#include "kvcheck/base/folder.h"
#include "kvcheck/base/new_folder.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/tasks/task_items.h"

namespace kv::cli {
namespace {

namespace fs = std::filesystem;

Result<void> check_words(const Arguments& arguments) {
  constexpr std::array<std::string_view, 8> of_texts = {"text", "tokens", "skip",     "split",
                                                        "mark", "prompt", "question", "resume"};
  if (auto none = check_no_text(arguments, of_texts); !none) return none;
  if (!arguments.given("ids")) return {};
  return usage_error("--ids has no words to read; expected none beside --tasks");
}

// Before anything is recorded: what is written replaces nothing.
Result<void> check_output(const std::string& folder) {
  std::error_code failed;
  if (fs::symlink_status(folder, failed).type() == fs::file_type::not_found) return {};
  if (!fs::is_directory(folder, failed)) {
    return usage_error("-o " + shown(folder) + " is no folder; expected a new or an empty one");
  }
  const auto entries = entries_of(folder);
  if (!entries) return entries.error();
  if (entries->empty()) return {};
  return usage_error("-o " + shown(folder) + " is a folder with '" + entries->front().name +
                     "' in it; expected a new or an empty one");
}

// "0042.safetensors": as many digits as the last number has.
std::string file_of(std::size_t index, std::size_t count) {
  const std::string number = std::to_string(index + 1);
  const std::size_t width = std::to_string(count).size();
  return std::string(width - number.size(), '0') + number + ".safetensors";
}

// The stream that is recorded.
std::vector<model::TokenId> tokens_fed(const model::TaskStream& stream) {
  std::vector<model::TokenId> tokens = stream.prompt;
  if (!stream.answer.empty()) {
    tokens.insert(tokens.end(), stream.answer.begin(), stream.answer.end() - 1);
  }
  return tokens;
}

// Before anything is recorded: every item has the queries that are asked for.
Result<void> check_queries_of(const TaskItems& read, const model::RecordOptions& options) {
  if (!options.queries) return {};
  for (std::size_t i = 0; i < read.items.size(); ++i) {
    const model::TaskStream& stream = read.streams[i];
    const std::size_t tokens = tokens_fed(stream).size();
    const auto drawn = draw_queries(*options.queries, tokens, options.query_seed, stream.marks);
    if (drawn) continue;
    return Error{drawn.error().kind, "item " + shown(read.items[i].id) + ": " +
                                         drawn.error().message +
                                         " (the last token of an answer is not read)"};
  }
  return {};
}

}  // namespace

Result<void> record_tasks(const Arguments& arguments,
                          const OpenedModel& opened,
                          const model::RecordOptions& options,
                          Streams& streams) {
  if (auto fine = check_words(arguments); !fine) return fine;
  const Result<TaskItems> read = task_items_of(arguments, opened, ItemUse::recorded, true);
  if (!read) return read.error();
  if (auto fine = check_queries_of(*read, options); !fine) return fine;
  if (auto fine = check_output(arguments.value("output")); !fine) return fine;
  auto folder = NewFolder::create(arguments.value("output"));
  if (!folder) return folder.error();
  const bool quiet = arguments.given("quiet");
  if (!quiet) {
    for (const std::string& note : length_notes(*read, opened)) {
      streams.err << "Note: " << note << ".\n";
    }
  }
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !quiet);
  const std::size_t count = read->items.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto report = [&](double share) {
      progress.update((static_cast<double>(i) + share) / static_cast<double>(count), "recording");
      return !interrupted();
    };
    const model::TaskItem& item = read->items[i];
    model::RecordOptions own = options;
    own.marks = read->streams[i].marks;
    if (own.source.empty()) own.source = "item " + item.id + " of " + arguments.value("tasks");
    const auto done = model::record(opened.model, *opened.tokenizer, tokens_fed(read->streams[i]),
                                    own, folder->path() + "/" + file_of(i, count), report);
    if (interrupted()) {
      progress.clear();
      return io_error("interrupted; nothing was written");
    }
    if (!done) {
      progress.clear();
      return Error{done.error().kind,
                   "item " + shown(item.id) + ": " + folder->about_target(done.error().message)};
    }
  }
  progress.clear();
  if (auto done = folder->commit(); !done) return done;
  streams.err << "wrote " << count << (count == 1 ? " trace" : " traces") << " into "
              << arguments.value("output") << "\n";
  return {};
}

}  // namespace kv::cli
