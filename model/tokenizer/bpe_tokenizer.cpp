#include "kvcheck/model/tokenizer/bpe_tokenizer.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <memory>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/tokenizer/bpe_rules.h"
#include "kvcheck/model/tokenizer/byte_letters.h"
#include "kvcheck/model/tokenizer/gguf_rules.h"
#include "kvcheck/model/tokenizer/merge.h"
#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"
#include "kvcheck/model/tokenizer/word_tokenizer.h"

namespace kv::model {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

// "<0x0A>" stands for one byte where characters fall back to bytes.
std::string fallback_text(std::size_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
}

class BpeTokenizer final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> make(BpeRules rules) {
    auto made = std::make_unique<BpeTokenizer>(std::move(rules));
    if (Result<void> filled = made->fill(); !filled) return filled.error();
    return std::unique_ptr<Tokenizer>(std::move(made));
  }

  explicit BpeTokenizer(BpeRules rules) : rules_(std::move(rules)) {}

  [[nodiscard]] std::size_t vocabulary() const override { return pieces_.size(); }

  [[nodiscard]] std::size_t plain_vocabulary() const override { return plain_; }

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    return added_.encode(
        text,
        [this](std::string_view plain, bool first, std::vector<TokenId>& tokens) -> Result<void> {
          const Result<std::string> normalised = rules_.normalizer.apply(plain);
          if (!normalised) return normalised.error();
          // Those that are looked for in what the normalizer made.
          const auto rest = [&](std::string_view part, bool leads, std::vector<TokenId>& into) {
            return encode_words(part, first && leads, into);
          };
          const auto found = normalised_.encode(*normalised, rest);
          if (!found) return found.error();
          tokens.insert(tokens.end(), found->begin(), found->end());
          return {};
        });
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> previous, TokenId token) const override {
    const std::string& text = pieces_[static_cast<std::size_t>(token)];
    const bool blank = !previous && rules_.blank_first && text.starts_with(' ');
    return blank ? text.substr(1) : text;
  }

 private:
  Result<void> fill() {
    const bool bytes = rules_.words.byte_level();
    if (auto filled = bytes ? fill_bytes() : fill_characters(); !filled) return filled;
    plain_ = pieces_.size();
    for (std::size_t rank = 0; rank < rules_.merges.size(); ++rank) {
      const auto& [left, right] = rules_.merges[rank];
      const auto pair = pair_key(rules_.vocabulary.at(left), rules_.vocabulary.at(right));
      if (rules_.first_merge_counts && joins_.contains(pair)) continue;
      joins_[pair] = {rules_.vocabulary.at(left + right), static_cast<double>(rank)};
    }
    return fill_added();
  }

  Result<void> put(TokenId token, std::string piece) {
    const std::size_t named = rules_.vocabulary.size() + rules_.added.size();
    return tokenizer_json::put_piece(pieces_, named, token, std::move(piece));
  }

  Result<void> fill_bytes() {
    const std::array<std::string, 256>& characters = byte_characters();
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto found = rules_.vocabulary.find(characters[byte]);
      // Bytes that never occur in UTF-8 need no token.
      const bool possible = byte < 0xF5 && byte != 0xC0 && byte != 0xC1;
      if (found == rules_.vocabulary.end() && !possible) continue;
      if (found == rules_.vocabulary.end()) {
        return malformed("has no token for byte " + std::to_string(byte) + ", written " +
                         shown(characters[byte]));
      }
      bytes_[byte] = found->second;
    }
    for (const auto& [text, token] : rules_.vocabulary) {
      if (auto done = put(token, bytes_behind(text)); !done) return done;
    }
    return {};
  }

  Result<void> fill_characters() {
    for (const auto& [text, token] : rules_.vocabulary) {
      std::string piece = text;
      if (!rules_.blank.empty()) boost::algorithm::replace_all(piece, rules_.blank, " ");
      if (auto done = put(token, std::move(piece)); !done) return done;
    }
    for (std::size_t byte = 0; rules_.byte_fallback && byte < 256; ++byte) {
      const auto found = rules_.vocabulary.find(fallback_text(byte));
      // Gemma has none for the tabulator, which is a token itself.
      bytes_[byte] = found == rules_.vocabulary.end() ? no_token : found->second;
      if (bytes_[byte] == no_token) continue;
      pieces_[static_cast<std::size_t>(found->second)] = static_cast<char>(byte);
    }
    return {};
  }

  Result<void> fill_added() {
    std::vector<AddedToken> raw;
    std::vector<AddedToken> normalised;
    for (AddedToken added : rules_.added) {
      if (auto done = put(added.token, added.text); !done) return done;
      if (!added.normalised) {
        raw.push_back(std::move(added));
        continue;
      }
      // What is looked for in the normalised text is normalised itself.
      Result<std::string> text = rules_.normalizer.apply(added.text);
      if (!text) return text.error();
      added.text = *std::move(text);
      if (!added.text.empty()) normalised.push_back(std::move(added));
    }
    added_ = AddedTokens(raw);
    normalised_ = AddedTokens(normalised);
    return {};
  }

  Result<void> encode_words(std::string_view text, bool first, std::vector<TokenId>& tokens) const {
    const Result<std::vector<std::string>> words = rules_.words.split(text, first);
    if (!words) return words.error();
    for (const std::string& word : *words) {
      if (auto done = encode_word(word, tokens); !done) return done;
    }
    return {};
  }

  Result<void> encode_word(const std::string& word, std::vector<TokenId>& tokens) const {
    if (rules_.whole_words) {
      const std::string spelled = rules_.words.byte_level() ? byte_letters(word) : word;
      const auto found = rules_.vocabulary.find(spelled);
      if (found != rules_.vocabulary.end()) {
        tokens.push_back(found->second);
        return {};
      }
    }
    std::vector<TokenId> parts;
    if (rules_.words.byte_level()) {
      for (const char byte : word) parts.push_back(bytes_[static_cast<unsigned char>(byte)]);
    } else if (auto spelled = spell(word, parts); !spelled) {
      return spelled;
    }
    merge_tokens(parts, [this](TokenId left, TokenId right) -> std::optional<Joined> {
      const auto found = joins_.find(pair_key(left, right));
      if (found == joins_.end()) return {};
      return found->second;
    });
    tokens.insert(tokens.end(), parts.begin(), parts.end());
    return {};
  }

  // The word's characters as tokens. As in Hugging Face's tokenizers, an unknown one is put before
  // the next character that is a token, so behind bytes that other characters fall back to.
  Result<void> spell(const std::string& word, std::vector<TokenId>& parts) const {
    std::optional<TokenId> waiting;
    const auto put_waiting = [&] {
      if (const auto unknown = std::exchange(waiting, std::nullopt)) parts.push_back(*unknown);
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = character_end(word, at);
      const std::string character = word.substr(at, end - at);
      const auto found = rules_.vocabulary.find(character);
      if (found != rules_.vocabulary.end()) {
        put_waiting();
        parts.push_back(found->second);
      } else if (falls_back(character)) {
        for (const char byte : character) parts.push_back(bytes_[static_cast<unsigned char>(byte)]);
      } else if (!rules_.unknown) {
        return malformed("the tokenizer has no token for the character " + shown(character));
      } else {
        if (!rules_.fuse_unknown) put_waiting();
        waiting = rules_.unknown;
      }
      at = end;
    }
    put_waiting();
    return {};
  }

  // Whether each byte of a character that is no token has one.
  [[nodiscard]] bool falls_back(std::string_view character) const {
    return rules_.byte_fallback && std::ranges::none_of(character, [this](char byte) {
             return bytes_[static_cast<unsigned char>(byte)] == no_token;
           });
  }

  static constexpr TokenId no_token = -1;

  BpeRules rules_;
  std::array<TokenId, 256> bytes_{};
  std::vector<std::string> pieces_;  // the bytes of each token
  std::size_t plain_ = 0;
  std::unordered_map<std::uint64_t, Joined> joins_;
  AddedTokens added_;
  AddedTokens normalised_;
};

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<std::unique_ptr<Tokenizer>> named(const std::string& path,
                                         Result<std::unique_ptr<Tokenizer>> made) {
  if (!made) return Error{made.error().kind, shown(path) + " " + made.error().message};
  return made;
}

Result<std::unique_ptr<Tokenizer>> make(Result<BpeRules> rules) {
  if (!rules) return rules.error();
  return BpeTokenizer::make(*std::move(rules));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_tokenizer_json(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const std::string_view text = text_of(*file);
  if (is_word_level(text)) return named(path, parse_word_tokenizer(text));
  return named(path, make(parse_tokenizer_json(text)));
}

Result<std::unique_ptr<Tokenizer>> open_gguf_tokenizer(const std::string& path) {
  const Result<GgufFile> opened = open_gguf(path);
  if (!opened) return opened.error();
  return named(path, make(gguf_bpe_rules(opened->content)));
}

Result<std::unique_ptr<Tokenizer>> open_gpt2_tokenizer(const std::string& folder) {
  const Result<MappedFile> vocabulary = MappedFile::open(folder + "/vocab.json");
  if (!vocabulary) return vocabulary.error();
  const Result<MappedFile> merges = MappedFile::open(folder + "/merges.txt");
  if (!merges) return merges.error();
  return named(folder, make(parse_gpt2_files(text_of(*vocabulary), text_of(*merges))));
}

}  // namespace kv::model
