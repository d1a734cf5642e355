#include "kvcheck/model/tokenizer/byte_bpe.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uregex.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <memory>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/tokenizer/bpe_rules.h"
#include "kvcheck/model/tokenizer/merge.h"
#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"
#include "kvcheck/model/tokenizer/word_tokenizer.h"

namespace kv::model {
namespace {

// Limits of one match, so that a pattern from a file cannot run for ever. ICU counts steps of its
// engine, not seconds: the same text fails on every machine. A step is about a millisecond.
constexpr std::int32_t match_steps = 2000;
constexpr std::int32_t match_stack = 1 << 23;  // bytes

struct CloseRegex {
  void operator()(URegularExpression* regex) const { uregex_close(regex); }
};

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};

using Regex = std::unique_ptr<URegularExpression, CloseRegex>;
using Text = std::unique_ptr<UText, CloseText>;

Text open_text(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  return Text(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status));
}

// The printable character that stands for each byte: itself where it is visible in Latin-1, else
// the next one from 256 on.
std::array<std::string, 256> byte_characters() {
  std::array<std::string, 256> characters;
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const char32_t point = visible ? byte : next++;
    if (point < 0x80) {
      characters[byte] = static_cast<char>(point);
    } else {
      characters[byte] = {static_cast<char>(0xC0 | point >> 6),
                          static_cast<char>(0x80 | (point & 0x3F))};
    }
  }
  return characters;
}

std::uint64_t pair_key(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

class ByteBpe final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> make(const BpeRules& rules) {
    auto made = std::make_unique<ByteBpe>();
    if (Result<void> filled = made->fill(rules); !filled) return filled.error();
    return std::unique_ptr<Tokenizer>(std::move(made));
  }

  [[nodiscard]] std::size_t vocabulary() const override { return pieces_.size(); }

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    return added_.encode(text, [this](std::string_view plain, std::vector<TokenId>& tokens) {
      return encode_plain(plain, tokens);
    });
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> /*previous*/,
                                  TokenId token) const override {
    return pieces_[static_cast<std::size_t>(token)];
  }

 private:
  Result<void> fill(const BpeRules& rules) {
    const std::array<std::string, 256> characters = byte_characters();
    std::unordered_map<std::string, char> byte_of;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      byte_of[characters[byte]] = static_cast<char>(byte);
      const auto found = rules.vocabulary.find(characters[byte]);
      // Bytes that never occur in UTF-8 need no token.
      const bool possible = byte < 0xF5 && byte != 0xC0 && byte != 0xC1;
      if (found == rules.vocabulary.end() && !possible) continue;
      if (found == rules.vocabulary.end()) {
        return malformed("has no token for byte " + std::to_string(byte) + ", written " +
                         shown(characters[byte]));
      }
      bytes_[byte] = found->second;
    }
    const std::size_t named = rules.vocabulary.size() + rules.added.size();
    for (const auto& [text, token] : rules.vocabulary) {
      auto put = tokenizer_json::put_piece(pieces_, named, token, bytes_behind(text, byte_of));
      if (!put) return put;
    }
    for (const auto& [left, right] : rules.merges) {
      const TokenId joined = rules.vocabulary.at(left + right);
      const auto order = static_cast<double>(joins_.size());
      // Of merges of the same pair the first one counts, as it has the lowest rank.
      joins_.try_emplace(pair_key(rules.vocabulary.at(left), rules.vocabulary.at(right)),
                         Joined{joined, order});
    }
    if (rules.whole_words) {
      for (const auto& [text, token] : rules.vocabulary) {
        words_.emplace(bytes_behind(text, byte_of), token);
      }
    }
    nfc_ = rules.nfc;
    for (const AddedToken& added : rules.added) {
      auto put = tokenizer_json::put_piece(pieces_, named, added.token, added.text);
      if (!put) return put;
    }
    added_ = AddedTokens(rules.added);
    return open_pattern(rules.pattern);
  }

  // Characters that stand for no byte, as added tokens may hold, are taken as they are.
  static std::string bytes_behind(const std::string& text,
                                  const std::unordered_map<std::string, char>& byte_of) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = character_end(text, at);
      const std::string character = text.substr(at, end - at);
      const auto found = byte_of.find(character);
      if (found != byte_of.end()) {
        bytes += found->second;
      } else {
        bytes += character;
      }
      at = end;
    }
    return bytes;
  }

  Result<void> open_pattern(const std::string& pattern) {
    UErrorCode status = U_ZERO_ERROR;
    UParseError where{};
    const Text text = open_text(pattern);
    if (text == nullptr) return out_of_memory();
    pattern_.reset(uregex_openUText(text.get(), 0, &where, &status));
    if (U_SUCCESS(status) != 0) return {};
    if (status == U_MEMORY_ALLOCATION_ERROR) return out_of_memory();
    return malformed("has a pattern " + shown(pattern) + " that is wrong at character " +
                     std::to_string(where.offset) + ": " + u_errorName(status));
  }

  Result<void> encode_plain(std::string_view text, std::vector<TokenId>& tokens) const {
    if (!nfc_) return encode_words(text, tokens);
    UErrorCode status = U_ZERO_ERROR;
    std::string composed;
    icu::StringByteSink<std::string> sink(&composed);
    icu::Normalizer2::getNFCInstance(status)->normalizeUTF8(
        0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr,
        status);
    if (U_FAILURE(status) != 0) return icu_error(status);
    return encode_words(composed, tokens);
  }

  Result<void> encode_words(std::string_view text, std::vector<TokenId>& tokens) const {
    UErrorCode status = U_ZERO_ERROR;
    // A clone per call: matching changes the state of an ICU regex, and encode() is const so that
    // threads may share a tokenizer.
    const Regex regex(uregex_clone(pattern_.get(), &status));
    uregex_setTimeLimit(regex.get(), match_steps, &status);
    uregex_setStackLimit(regex.get(), match_stack, &status);
    const Text utf8 = open_text(text);
    if (utf8 == nullptr) return out_of_memory();
    uregex_setUText(regex.get(), utf8.get(), &status);
    std::size_t done = 0;
    while (U_SUCCESS(status) != 0 && uregex_findNext(regex.get(), &status) != 0) {
      const auto begin = static_cast<std::size_t>(uregex_start64(regex.get(), 0, &status));
      const auto end = static_cast<std::size_t>(uregex_end64(regex.get(), 0, &status));
      // What no match covers is a word of its own.
      encode_word(text.substr(done, begin - done), tokens);
      encode_word(text.substr(begin, end - begin), tokens);
      done = end;
    }
    if (status == U_REGEX_TIME_OUT || status == U_REGEX_STACK_OVERFLOW) {
      return malformed("the tokenizer's pattern for splitting text needs too much " +
                       std::string(status == U_REGEX_TIME_OUT ? "time" : "memory") +
                       " behind byte " + std::to_string(done) +
                       " of the text; expected a pattern that does not backtrack so far");
    }
    if (U_FAILURE(status) != 0) return icu_error(status);
    encode_word(text.substr(done), tokens);
    return {};
  }

  // Opening a text for ICU fails for no other reason: any bytes are a text.
  static Error out_of_memory() { return io_error("out of memory"); }

  static Error icu_error(UErrorCode status) {
    if (status == U_MEMORY_ALLOCATION_ERROR) return out_of_memory();
    return malformed(std::string("the text could not be split into words: ") + u_errorName(status));
  }

  void encode_word(std::string_view word, std::vector<TokenId>& tokens) const {
    if (word.empty()) return;
    const auto whole = words_.find(std::string(word));
    if (whole != words_.end()) {
      tokens.push_back(whole->second);
      return;
    }
    std::vector<TokenId> parts;
    for (const char byte : word) parts.push_back(bytes_[static_cast<unsigned char>(byte)]);
    merge_tokens(parts, [this](TokenId left, TokenId right) -> std::optional<Joined> {
      const auto found = joins_.find(pair_key(left, right));
      if (found == joins_.end()) return {};
      return found->second;
    });
    tokens.insert(tokens.end(), parts.begin(), parts.end());
  }

  std::array<TokenId, 256> bytes_{};
  std::vector<std::string> pieces_;  // the bytes of each token
  std::unordered_map<std::uint64_t, Joined> joins_;
  std::unordered_map<std::string, TokenId> words_;  // only where whole words come first
  AddedTokens added_;
  Regex pattern_;
  bool nfc_ = false;
};

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<std::unique_ptr<Tokenizer>> named(const std::string& path,
                                         Result<std::unique_ptr<Tokenizer>> made) {
  if (!made) return Error{made.error().kind, shown(path) + " " + made.error().message};
  return made;
}

Result<std::unique_ptr<Tokenizer>> make(const Result<BpeRules>& rules) {
  if (!rules) return rules.error();
  return ByteBpe::make(*rules);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_tokenizer_json(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const std::string_view text = text_of(*file);
  if (is_word_level(text)) return named(path, parse_word_tokenizer(text));
  return named(path, make(parse_tokenizer_json(text)));
}

Result<std::unique_ptr<Tokenizer>> open_gpt2_tokenizer(const std::string& folder) {
  const Result<MappedFile> vocabulary = MappedFile::open(folder + "/vocab.json");
  if (!vocabulary) return vocabulary.error();
  const Result<MappedFile> merges = MappedFile::open(folder + "/merges.txt");
  if (!merges) return merges.error();
  return named(folder, make(parse_gpt2_files(text_of(*vocabulary), text_of(*merges))));
}

}  // namespace kv::model
