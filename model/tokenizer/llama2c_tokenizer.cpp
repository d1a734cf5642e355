#include "kvcheck/model/tokenizer/llama2c_tokenizer.h"

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/tokenizer/merge.h"

namespace kv::model {
namespace {

constexpr TokenId begin_of_text = 1;
constexpr TokenId first_byte = 3;

struct Scored {
  std::string text;
  float score = 0;
};

class Llama2cTokenizer final : public Tokenizer {
 public:
  explicit Llama2cTokenizer(std::vector<Scored> tokens) : tokens_(std::move(tokens)) {
    // Of equal texts the first counts.
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      by_text_.emplace(tokens_[i].text, static_cast<TokenId>(i));
    }
  }

  [[nodiscard]] std::size_t vocabulary() const override { return tokens_.size(); }

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    if (const auto bad = first_invalid_utf8(text)) return not_utf8(*bad);
    if (text.empty()) return std::vector<TokenId>{};
    Result<std::vector<TokenId>> tokens = characters(" " + std::string(text));
    if (!tokens) return tokens;
    merge_tokens(*tokens, [this](TokenId left, TokenId right) { return join(left, right); });
    return tokens;
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> previous, TokenId token) const override {
    const std::string& text = tokens_[static_cast<std::size_t>(token)].text;
    if (const std::optional<char> byte = byte_of(text)) return std::string(1, *byte);
    if (token < first_byte) return {};
    // The blank that encode() puts in front is not part of the text.
    const bool first = !previous || *previous == begin_of_text;
    return first && text.starts_with(' ') ? text.substr(1) : text;
  }

 private:
  // "<0x0A>" stands for one byte.
  static std::optional<char> byte_of(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return {};
    const auto digit = [](char c) {
      return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    if (digit(text[3]) < 0 || digit(text[4]) < 0) return {};
    return static_cast<char>(16 * digit(text[3]) + digit(text[4]));
  }

  [[nodiscard]] Result<std::vector<TokenId>> characters(std::string_view text) const {
    std::vector<TokenId> tokens;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = character_end(text, at);
      const auto found = by_text_.find(std::string(text.substr(at, end - at)));
      if (found != by_text_.end()) {
        tokens.push_back(found->second);
      } else {
        // Every byte has a token: 259 tokens were asked for when the file was opened.
        for (std::size_t i = at; i < end; ++i) {
          tokens.push_back(first_byte + static_cast<unsigned char>(text[i]));
        }
      }
      at = end;
    }
    return tokens;
  }

  [[nodiscard]] std::optional<Joined> join(TokenId left, TokenId right) const {
    const auto found = by_text_.find(tokens_[static_cast<std::size_t>(left)].text +
                                     tokens_[static_cast<std::size_t>(right)].text);
    if (found == by_text_.end()) return {};
    const Scored& token = tokens_[static_cast<std::size_t>(found->second)];
    // merge_tokens takes the lowest order first; here the highest score comes first.
    return Joined{found->second, -static_cast<double>(token.score)};
  }

  std::vector<Scored> tokens_;
  std::unordered_map<std::string, TokenId> by_text_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_llama2c_tokenizer(const std::string& path,
                                                          std::size_t vocabulary) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  std::span<const std::byte> rest = file->bytes();
  const auto take = [&](void* into, std::size_t bytes) {
    if (bytes > rest.size()) return false;
    if (bytes > 0) std::memcpy(into, rest.data(), bytes);
    rest = rest.subspan(bytes);
    return true;
  };
  std::int32_t longest = 0;
  bool whole = take(&longest, sizeof longest);
  std::vector<Scored> tokens;
  while (whole && tokens.size() < vocabulary) {
    Scored token;
    std::uint32_t length = 0;
    whole = take(&token.score, sizeof token.score) && take(&length, sizeof length) &&
            length <= rest.size() && std::isfinite(token.score);
    if (!whole) break;
    token.text.resize(length);
    whole = take(token.text.data(), length);
    tokens.push_back(std::move(token));
  }
  if (!whole || tokens.size() < 259) {
    return malformed(shown(path) + " ends or breaks after " + std::to_string(tokens.size()) +
                     " tokens; expected the model's " + std::to_string(vocabulary) +
                     ", at least 259");
  }
  if (!rest.empty()) {
    return malformed(shown(path) + " has " + std::to_string(rest.size()) + " bytes after the " +
                     std::to_string(vocabulary) + " tokens of the model; expected none");
  }
  return std::unique_ptr<Tokenizer>(std::make_unique<Llama2cTokenizer>(std::move(tokens)));
}

}  // namespace kv::model
