#include "kvcheck/model/tokenizer/word_tokenizer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/tokenizer/added_tokens.h"
#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"

namespace kv::model {
namespace {

namespace file = tokenizer_json;

class WordTokenizer final : public Tokenizer {
 public:
  using Vocabulary = std::unordered_map<std::string, TokenId>;

  static Result<std::unique_ptr<Tokenizer>> make(Vocabulary vocabulary,
                                                 std::span<const AddedToken> added,
                                                 const std::string& unknown) {
    auto made = std::make_unique<WordTokenizer>();
    const std::size_t named = vocabulary.size() + added.size();
    for (const auto& [word, token] : vocabulary) {
      const auto put = file::put_piece(made->pieces_, named, token, word);
      if (!put) return put.error();
    }
    for (const AddedToken& one : added) {
      const auto put = file::put_piece(made->pieces_, named, one.token, one.text);
      if (!put) return put.error();
    }
    if (const auto found = vocabulary.find(unknown); found != vocabulary.end()) {
      made->unknown_ = found->second;
    }
    made->words_ = std::move(vocabulary);
    made->added_ = AddedTokens(added);
    return std::unique_ptr<Tokenizer>(std::move(made));
  }

  [[nodiscard]] std::size_t vocabulary() const override { return pieces_.size(); }

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    return added_.encode(text, [this](std::string_view plain, bool, std::vector<TokenId>& tokens) {
      return encode_words(plain, tokens);
    });
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> previous, TokenId token) const override {
    return (previous ? " " : "") + pieces_[static_cast<std::size_t>(token)];
  }

 private:
  Result<void> encode_words(std::string_view text, std::vector<TokenId>& tokens) const {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = character_end(text, at);
      if (is_white_space(text.substr(at, end - at))) {
        if (auto done = encode_word(text.substr(begin, at - begin), tokens); !done) return done;
        begin = end;
      }
      at = end;
    }
    return encode_word(text.substr(begin), tokens);
  }

  Result<void> encode_word(std::string_view word, std::vector<TokenId>& tokens) const {
    if (word.empty()) return {};
    const auto found = words_.find(std::string(word));
    if (found == words_.end() && !unknown_) return not_a_word(word);
    tokens.push_back(found == words_.end() ? *unknown_ : found->second);
    return {};
  }

  [[nodiscard]] Error not_a_word(std::string_view word) const {
    std::vector<std::string_view> all;
    for (const std::string& piece : pieces_) all.push_back(piece);
    const std::string_view meant = nearest(word, all);
    if (!meant.empty()) return malformed(unknown_word("word", word, all, meant));
    // The whole vocabulary would be no sentence.
    return malformed(unknown_word("word", word, {}) + "; expected one of the tokenizer's " +
                     std::to_string(words_.size()) + ", between white space");
  }

  std::vector<std::string> pieces_;  // the text of each token
  Vocabulary words_;
  AddedTokens added_;
  std::optional<TokenId> unknown_;
};

}  // namespace

bool is_word_level(std::string_view json) {
  const auto parsed = file::parse(json);
  return parsed && file::text_of(file::find(file::find(&*parsed, "model"), "type")) == "WordLevel";
}

Result<std::unique_ptr<Tokenizer>> parse_word_tokenizer(std::string_view json) {
  const auto parsed = file::parse(json);
  if (!parsed) return parsed.error();
  const auto* const root = &*parsed;
  if (auto checked = file::check_types(*root); !checked) return checked.error();
  const auto type_of = [&](std::string_view entry) {
    return file::text_of(file::find(file::find(root, entry), "type"));
  };
  if (file::find(root, "normalizer") != nullptr) {
    return file::unsupported("normalizer", type_of("normalizer"), "none, for WordLevel");
  }
  const std::string_view splitter = type_of("pre_tokenizer");
  if (splitter != "WhitespaceSplit") {
    return file::unsupported("pre-tokenizer", splitter.empty() ? "none" : splitter,
                             "WhitespaceSplit, for WordLevel");
  }
  const auto* const model = file::find(root, "model");
  auto vocabulary = file::read_vocabulary(file::find(model, "vocab"));
  if (!vocabulary) return vocabulary.error();
  const auto added = file::added_tokens_of(file::find(root, "added_tokens"), *vocabulary);
  if (!added) return added.error();
  return WordTokenizer::make(*std::move(vocabulary), *added,
                             std::string(file::text_of(file::find(model, "unk_token"))));
}

}  // namespace kv::model
