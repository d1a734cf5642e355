// The rules of one BPE tokenizer, read from files, before they are checked together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/added_tokens.h"
#include "kvcheck/model/tokenizer/normalizer.h"
#include "kvcheck/model/tokenizer/pre_tokenizer.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

struct BpeRules {
  std::unordered_map<std::string, TokenId> vocabulary;      // byte-level: in printable characters
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  bool first_merge_counts = false;  // of merges of the same two parts; else the last one does
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer words;
  bool whole_words = false;  // a word that is a token is not merged from its parts
  // Of vocabularies of characters:
  bool byte_fallback = false;        // a character that is no token becomes the tokens of its bytes
  std::optional<TokenId> unknown{};  // ... or this one
  bool fuse_unknown = false;         // unknown characters that follow each other are one token
  std::string blank{};               // what stands for a blank in their texts; empty: none
  bool blank_first = false;          // decoding takes one blank from the start of a text

  // Whether decoding what was encoded gives every text back.
  [[nodiscard]] bool exact() const {
    return words.byte_level() && words.exact() && normalizer.empty() && added.empty();
  }
};

// The text of a tokenizer.json. Errors name the entry, not the file. Whatever the file says that
// these rules cannot is refused.
Result<BpeRules> parse_tokenizer_json(std::string_view text);

// The texts of vocab.json and merges.txt.
Result<BpeRules> parse_gpt2_files(std::string_view vocabulary, std::string_view merges);

// Adds "left right" as the merge of the next rank. The error names a part that is no token.
Result<void> add_merge_line(std::string_view line, BpeRules& rules);

}  // namespace kv::model
