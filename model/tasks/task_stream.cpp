#include "kvcheck/model/tasks/task_stream.h"

#include <algorithm>
#include <map>
#include <vector>

#include "kvcheck/base/text/printable.h"

namespace kv::model {
namespace {

std::size_t common_prefix(const std::vector<TokenId>& one, const std::vector<TokenId>& other) {
  const auto ends = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<std::size_t>(ends.first - one.begin());
}

bool ends_with_white_space(const std::string& text) {
  std::size_t at = 0;
  std::size_t last = 0;
  while (at < text.size()) {
    last = at;
    at = character_end(text, at);
  }
  return !text.empty() && is_white_space(text.substr(last));
}

// The texts that may follow the question, each with all before it.
class Continuations {
 public:
  Continuations(const TaskItem& item, const Tokenizer& tokenizer)
      : before_(item.context + item.question), tokenizer_(tokenizer) {
    if (!ends_with_white_space(before_)) blank_ = " ";
  }

  Result<void> begin() {
    auto tokens = tokenizer_.encode(before_);
    if (!tokens) return tokens.error();
    shared_ = *std::move(tokens);
    return {};
  }

  // The part that all continuations share ends where the first of them differs from it.
  Result<std::vector<TokenId>> whole(const std::string& answer) {
    auto tokens = tokenizer_.encode(before_ + blank_ + answer);
    if (tokens) shared_.resize(common_prefix(shared_, *tokens));
    return tokens;
  }

  [[nodiscard]] const std::vector<TokenId>& shared() const { return shared_; }

 private:
  std::string before_;
  const Tokenizer& tokenizer_;
  std::string blank_{};
  std::vector<TokenId> shared_{};
};

std::vector<TokenId> rest_of(const std::vector<TokenId>& whole, std::size_t shared) {
  return {whole.begin() + static_cast<std::ptrdiff_t>(shared), whole.end()};
}

// No rank tells choices of the same tokens apart.
Result<void> check_choices(const TaskItem& item, const std::vector<std::vector<TokenId>>& tokens) {
  std::map<std::vector<TokenId>, std::size_t> known;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [first, is_new] = known.emplace(tokens[i], i);
    if (is_new) continue;
    return malformed("item '" + printable_line(item.id) + "', choices: '" +
                     printable_line(item.choices[first->second]) + "' and '" +
                     printable_line(item.choices[i]) +
                     "' are the same tokens; expected texts that the tokenizer tells apart");
  }
  return {};
}

}  // namespace

Result<TaskStream> stream_of(const TaskItem& item,
                             const Tokenizer& tokenizer,
                             std::optional<TokenId> begin) {
  const auto in_item = [&](const Error& error, const char* part) {
    return Error{error.kind,
                 "item '" + printable_line(item.id) + "', " + part + ": " + error.message};
  };
  Continuations continuations(item, tokenizer);
  if (auto begun = continuations.begin(); !begun) {
    return in_item(begun.error(), "context and question");
  }
  std::vector<std::vector<TokenId>> answers;
  for (const std::string& answer : item.answers) {
    auto tokens = continuations.whole(answer);
    if (!tokens) return in_item(tokens.error(), "answers");
    answers.push_back(*std::move(tokens));
  }
  TaskStream stream;
  for (const std::string& choice : item.choices) {
    auto tokens = continuations.whole(choice);
    if (!tokens) return in_item(tokens.error(), "choices");
    stream.choices.push_back(*std::move(tokens));
  }
  if (auto apart = check_choices(item, stream.choices); !apart) return apart.error();
  const std::size_t shared = continuations.shared().size();
  for (const auto& answer : answers) {
    stream.longest = std::max(stream.longest, answer.size() - shared);
  }
  stream.answer = rest_of(answers.front(), shared);
  for (std::size_t i = 0; i < stream.choices.size(); ++i) {
    stream.choices[i] = rest_of(stream.choices[i], shared);
    if (!stream.choices[i].empty()) continue;
    return malformed("item '" + printable_line(item.id) + "', choices: '" +
                     printable_line(item.choices[i]) +
                     "' has no token of its own; expected a text that the tokenizer does not join "
                     "with the question");
  }
  if (stream.answer.empty()) {
    return malformed("item '" + printable_line(item.id) +
                     "': the first answer has no token of its own; expected an answer that the "
                     "tokenizer does not join with the question");
  }
  for (const std::string& choice : item.choices) {
    stream.right.push_back(std::ranges::find(item.answers, choice) != item.answers.end());
  }
  const auto context = tokenizer.encode(item.context);
  if (!context) return in_item(context.error(), "context");
  if (begin) stream.prompt.push_back(*begin);
  stream.marks.prompt = stream.prompt.size() + common_prefix(continuations.shared(), *context);
  stream.prompt.insert(stream.prompt.end(), continuations.shared().begin(),
                       continuations.shared().end());
  if (stream.marks.prompt == 0) {
    return malformed("item '" + printable_line(item.id) +
                     "': the context has no token of its own; expected a longer one");
  }
  stream.marks.question = stream.prompt.size() - stream.marks.prompt;
  return stream;
}

}  // namespace kv::model
