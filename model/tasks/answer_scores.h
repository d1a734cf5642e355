// Scores of a generated answer against the answers that count as right.
//
// Source: the evaluation script of SQuAD 1.1 (Rajpurkar et al., arXiv:1606.05250, section 6.1):
// texts are compared in lower case, without punctuation, articles and extra white space. Differs:
// an article is a whole word between white space, where the script also finds one beside
// punctuation outside ASCII. An answer of nothing but articles, such as the letter A of a question
// with choices, is compared with articles, and one of nothing but punctuation with punctuation,
// where the script would call every such answer right.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kv::model {

struct AnswerScore {
  bool exact = false;     // it is one of the right answers
  bool contains = false;  // a right answer's words stand in it, one after another
  double f1 = 0;          // of its words, the best over the right answers

  bool operator==(const AnswerScore&) const = default;
};

// Requires UTF-8 and at least one right answer. Cost: linear in the texts' lengths times the
// answers.
AnswerScore score_answer(std::string_view text, std::span<const std::string> answers);

}  // namespace kv::model
