#include "kvcheck/cli/evaluate/record_tasks.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "kvcheck/base/folder.h"
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

// A folder that becomes the output once it is whole.
class UnfinishedFolder {
 public:
  static Result<UnfinishedFolder> create(const std::string& named) {
    // Without symbolic links or a slash at its end, so that the folder can be renamed.
    std::error_code failed;
    fs::path target = fs::weakly_canonical(fs::absolute(named, failed), failed);
    if (failed) return io_error("cannot write " + shown(named) + ": " + failed.message());
    if (target.filename().empty()) target = target.parent_path();
    const fs::file_type type = fs::symlink_status(target, failed).type();
    if (type == fs::file_type::directory) {
      const auto entries = entries_of(target.string());
      if (!entries) return entries.error();
      if (!entries->empty()) {
        return usage_error("-o " + shown(named) + " is a folder with '" + entries->front().name +
                           "' in it; expected a new or an empty one");
      }
    } else if (type != fs::file_type::not_found) {
      return usage_error("-o " + shown(named) + " is no folder; expected a new or an empty one");
    }
    UnfinishedFolder folder(target.string());
    if (fs::create_directory(folder.path(), failed)) {
      folder.made_ = true;
      return folder;
    }
    if (failed) return io_error("cannot make " + shown(folder.path()) + ": " + failed.message());
    return usage_error(shown(folder.path()) +
                       " is there, of a command that was killed or still runs; expected none, so "
                       "remove it if none runs");
  }

  UnfinishedFolder(UnfinishedFolder&& other) noexcept
      : output_(std::move(other.output_)),
        path_(std::move(other.path_)),
        made_(std::exchange(other.made_, false)) {}

  UnfinishedFolder& operator=(UnfinishedFolder&&) = delete;
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  ~UnfinishedFolder() {
    if (made_) remove_folder(path_.c_str());
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  Result<void> finish() {
    made_ = false;  // what is finished is kept
    if (::rename(path_.c_str(), output_.c_str()) == 0) return {};
    return io_error("cannot rename " + shown(path_) + " to " + shown(output_) + ": " +
                    std::system_category().message(errno) + "; the first of them has all traces");
  }

 private:
  explicit UnfinishedFolder(std::string output)
      : output_(std::move(output)), path_(output_ + ".unfinished") {}

  std::string output_;
  std::string path_;
  bool made_ = false;
};

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
  const Result<TaskItems> read = task_items_of(arguments, opened, true);
  if (!read) return read.error();
  if (auto fine = check_queries_of(*read, options); !fine) return fine;
  auto folder = UnfinishedFolder::create(arguments.value("output"));
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
      return Error{done.error().kind, "item " + shown(item.id) + ": " + done.error().message};
    }
  }
  progress.clear();
  if (auto done = folder->finish(); !done) return done;
  streams.err << "wrote " << count << (count == 1 ? " trace" : " traces") << " into "
              << arguments.value("output") << "\n";
  return {};
}

}  // namespace kv::cli
