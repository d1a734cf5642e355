// How a tokenizer splits a normalised text into words, before their parts are merged.
//
// Source: the pre-tokenizers of Hugging Face's tokenizer.json: Split, Digits, Metaspace, ByteLevel,
// and a Sequence of these, each applied to every word that the one before it made. All others are
// refused, and so is a step after ByteLevel, which would see bytes spelled as letters.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/regex/unicode_regex.h"

namespace kv::model {

// GPT-2's own pattern, which ByteLevel applies unless 'use_regex' is false: letters, digits or
// others with a leading blank, and blanks.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class PreTokenizer {
 public:
  // The entry 'pre_tokenizer'; null stands for none. Errors name the step that is not supported.
  static Result<PreTokenizer> read(const boost::json::value* from);

  // What GPT-2's vocab.json with merges.txt imply.
  static Result<PreTokenizer> gpt2();

  // The words of a part of a text; `first`: whether the text begins with it. Requires UTF-8.
  [[nodiscard]] Result<std::vector<std::string>> split(std::string_view text, bool first) const;

  // Whether words are spelled in bytes.
  [[nodiscard]] bool byte_level() const { return byte_level_; }

  // Whether every text's words, joined, are the text.
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  enum class Behaviour { isolated, removed, merged_with_previous, merged_with_next, contiguous };
  enum class Prefix { never, first, always };

  struct Step {
    std::vector<UnicodeRegex> regex{};  // one, or none where the text is not split
    Behaviour behaviour = Behaviour::isolated;
    std::string blank{};      // Metaspace: what stands for a blank
    std::string put_first{};  // what is put before a word that does not begin with it
    Prefix prefix = Prefix::never;
  };

  Result<void> add(const boost::json::value& step);
  Result<void> add_split(const boost::json::value& step);
  Result<void> add_digits(const boost::json::value& step);
  Result<void> add_metaspace(const boost::json::value& step);
  Result<void> add_byte_level(const boost::json::value& step);
  Result<void> add_regex(const std::string& pattern, Step step);
  static Result<void> cut(std::string_view word, const Step& step, std::vector<std::string>& into);

  std::vector<Step> steps_;
  bool byte_level_ = false;
  bool exact_ = true;
};

}  // namespace kv::model
