// The built-in recall task: facts that a text states and asks for later.
//
// Source: model/training/text.py, the language of the bundled model. A fact reads NAME 's ITEM is
// VALUE, a question what is NAME 's ITEM ? VALUE, and "story about" begins an episode, in which
// nothing stated before counts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/sim/replay/predictions.h"

namespace kv::model {

// A question of the text whose answer was stated before.
struct RecallQuestion {
  std::size_t answer = 0;    // the position of the answer in the stream
  std::size_t distance = 0;  // tokens from the latest mention of the fact's value to the answer

  bool operator==(const RecallQuestion&) const = default;
};

// The questions of a stream whose answers were stated before in the same episode. A word is a token
// without its blanks. A stream of another kind has no questions.
std::vector<RecallQuestion> recall_questions(std::span<const TokenId> stream,
                                             const Tokenizer& tokenizer);

// Counts answers by distance; `right` has one entry per target, as in Evaluation.
void count_recall(std::span<const RecallQuestion> questions,
                  std::span<const std::uint8_t> right,
                  std::vector<RecallBin>& bins);

}  // namespace kv::model
