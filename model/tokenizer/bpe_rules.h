// The rules of one byte-level BPE tokenizer, read from files, before they are checked together.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/added_tokens.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// What splits text into words: letters, digits or others with a leading blank, and blanks.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct BpeRules {
  std::unordered_map<std::string, TokenId> vocabulary;      // in printable characters
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  std::vector<AddedToken> added;
  std::string pattern{gpt2_pattern};
  bool nfc = false;
  bool whole_words = false;  // a word that is a token is not merged from its bytes
};

// The text of a tokenizer.json. Errors name the entry, not the file.
Result<BpeRules> parse_tokenizer_json(std::string_view text);

// The texts of vocab.json and merges.txt.
Result<BpeRules> parse_gpt2_files(std::string_view vocabulary, std::string_view merges);

}  // namespace kv::model
