#include "kvcheck/model/run/recall.h"

#include <map>
#include <string>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv::model {
namespace {

using Fact = std::pair<TokenId, TokenId>;  // name and item

struct Mention {
  TokenId value = 0;
  std::size_t at = 0;
};

// A model may have token numbers that its tokenizer lacks; they are no words.
std::string name_of(const Tokenizer& tokenizer, TokenId token) {
  if (static_cast<std::size_t>(token) >= tokenizer.vocabulary()) return {};
  const std::string piece = tokenizer.piece({}, token);
  const std::size_t first = piece.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : piece.substr(first);
}

// Reads a stream word by word and remembers the facts that it states.
class Reader {
 public:
  Reader(std::span<const TokenId> stream, const Tokenizer& tokenizer) : stream_(stream) {
    for (const TokenId token : stream) words_.push_back(name_of(tokenizer, token));
  }

  std::vector<RecallQuestion> questions() {
    std::vector<RecallQuestion> found;
    for (std::size_t at = 0; at < stream_.size(); ++at) {
      if (says(at, {"story", "about"})) reported_.clear();
      if (at < 4 || words_[at - 3] != "'s") continue;
      const Fact fact{stream_[at - 4], stream_[at - 2]};
      // A fact: NAME 's ITEM is VALUE. A question: what is NAME 's ITEM ? VALUE.
      const bool asked = at >= 6 && words_[at - 1] == "?" && says(at - 6, {"what", "is"});
      if (!asked && words_[at - 1] != "is") continue;
      const auto before = reported_.find(fact);
      if (asked && before != reported_.end() && before->second.value == stream_[at]) {
        found.push_back({.answer = at, .distance = at - before->second.at});
      }
      // A question's answer states the fact again: the next distance counts from here.
      reported_[fact] = {.value = stream_[at], .at = at};
    }
    return found;
  }

 private:
  [[nodiscard]] bool says(std::size_t at, std::pair<std::string_view, std::string_view> two) const {
    return at + 1 < words_.size() && words_[at] == two.first && words_[at + 1] == two.second;
  }

  std::span<const TokenId> stream_;
  std::vector<std::string> words_;
  std::map<Fact, Mention> reported_;
};

}  // namespace

std::vector<RecallQuestion> recall_questions(std::span<const TokenId> stream,
                                             const Tokenizer& tokenizer) {
  return Reader(stream, tokenizer).questions();
}

void count_recall(std::span<const RecallQuestion> questions,
                  std::span<const std::uint8_t> right,
                  std::vector<RecallBin>& bins) {
  for (const RecallQuestion& question : questions) {
    for (RecallBin& bin : bins) {
      if (question.distance < bin.first || question.distance >= bin.last) continue;
      KV_CHECK(question.answer >= 1 && question.answer <= right.size());
      ++bin.asked;
      bin.right += right[question.answer - 1];
    }
  }
}

}  // namespace kv::model
