#include "kvcheck/model/tasks/answer_scores.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace kv::model {
namespace {

constexpr std::string_view punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr std::array<std::string_view, 3> articles = {"a", "an", "the"};

enum class Punctuation { kept, left_out };

std::vector<std::string> words_in(std::string_view text, Punctuation marks) {
  icu::UnicodeString letters = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  letters.toLower(icu::Locale::getRoot());
  std::vector<std::string> words;
  icu::UnicodeString word;
  const auto end_word = [&] {
    if (word.length() == 0) return;
    words.emplace_back();
    word.toUTF8String(words.back());
    word.remove();
  };
  for (std::int32_t at = 0; at < letters.length(); at = letters.moveIndex32(at, 1)) {
    const UChar32 character = letters.char32At(at);
    if (u_isUWhiteSpace(character) != 0) {
      end_word();
    } else if (marks == Punctuation::kept || character >= 128 ||
               punctuation.find(static_cast<char>(character)) == punctuation.npos) {
      word.append(character);
    }
  }
  end_word();
  return words;
}

std::vector<std::string> without_articles(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) {
    return std::ranges::find(articles, word) != articles.end();
  });
  return words;
}

double f1_of(const std::vector<std::string>& words, const std::vector<std::string>& answer) {
  std::map<std::string_view, std::size_t> left;
  for (const std::string& word : words) ++left[word];
  std::size_t shared = 0;
  for (const std::string& word : answer) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++shared;
  }
  if (shared == 0) return 0;
  // The harmonic mean of shared / |words| and shared / |answer|.
  return 2 * static_cast<double>(shared) / static_cast<double>(words.size() + answer.size());
}

}  // namespace

AnswerScore score_answer(std::string_view text, std::span<const std::string> answers) {
  const std::vector<std::string> all = words_in(text, Punctuation::left_out);
  const std::vector<std::string> usual = without_articles(all);
  const std::vector<std::string> with_marks = words_in(text, Punctuation::kept);
  AnswerScore score;
  for (const std::string& answer : answers) {
    const std::vector<std::string> of_answer = words_in(answer, Punctuation::left_out);
    std::vector<std::string> right = without_articles(of_answer);
    const std::vector<std::string>* words = &usual;
    if (of_answer.empty()) {
      right = words_in(answer, Punctuation::kept);
      words = &with_marks;
    } else if (right.empty()) {
      right = of_answer;
      words = &all;
    }
    score.exact = score.exact || *words == right;
    score.contains = score.contains || std::search(words->begin(), words->end(), right.begin(),
                                                   right.end()) != words->end();
    score.f1 = std::max(score.f1, f1_of(*words, right));
  }
  return score;
}

}  // namespace kv::model
