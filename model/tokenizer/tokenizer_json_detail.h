// Entries of a tokenizer.json, which any may lack; for the readers of its kinds.
#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/added_tokens.h"

namespace kv::model::tokenizer_json {

// The entry of that name; null where `from` is no object, or has none or null.
const boost::json::value* find(const boost::json::value* from, std::string_view name);

// Its text, empty where it is none.
std::string_view text_of(const boost::json::value* value);

bool flag_of(const boost::json::value* value, bool otherwise);

// Errors begin with a verb, for a caller that puts the file's name before it.
Result<boost::json::value> parse(std::string_view text);

Error unsupported(std::string_view what, std::string_view found, std::string_view expected);

// An error if the object has an entry of another name whose value is not null.
Result<void> known_entries(const boost::json::value& object,
                           std::initializer_list<std::string_view> names);

// An error if an entry that is a flag or a text by its name is none, anywhere in a tokenizer but in
// its vocabulary and in what is not used; or if a pattern has two texts. Readers of single entries
// take what has another type for missing.
Result<void> check_types(const boost::json::value& tokenizer);

// An object of texts and token numbers. It is an error if two texts have the same number.
Result<std::unordered_map<std::string, TokenId>> read_vocabulary(const boost::json::value* from);

// The list of added tokens; empty where there is none. A number is an error that Hugging Face's
// tokenizers would not give to the token.
Result<std::vector<AddedToken>> added_tokens_of(
    const boost::json::value* from, const std::unordered_map<std::string, TokenId>& vocabulary);

// Puts a token's text into its place in a list that grows as needed. `named` is how many tokens the
// file names: numbers may leave gaps, but none may be far beyond that count, so that one wrong
// number allocates nothing. The error names such a number.
Result<void> put_piece(std::vector<std::string>& pieces,
                       std::size_t named,
                       TokenId token,
                       std::string piece);

}  // namespace kv::model::tokenizer_json
