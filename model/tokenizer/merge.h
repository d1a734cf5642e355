// Byte-pair merging: neighbouring tokens are joined, the best pair first, until no pair can be.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// What two neighbours would become. The lowest order joins first, of equals the leftmost.
struct Joined {
  TokenId token = 0;
  double order = 0;
};

using FindJoin = std::function<std::optional<Joined>(TokenId left, TokenId right)>;

// Joins in place. Cost: O(n log n) calls of a heap, O(n) of `find`.
void merge_tokens(std::vector<TokenId>& tokens, const FindJoin& find);

}  // namespace kv::model
