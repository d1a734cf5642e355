#include "kvcheck/model/tokenizer/number_tokenizer.h"

#include <string>

#include "kvcheck/base/text/describe.h"

namespace kv::model {
namespace {

class NumberTokenizer final : public Tokenizer {
 public:
  explicit NumberTokenizer(std::size_t vocabulary) : vocabulary_(vocabulary) {}

  [[nodiscard]] std::size_t vocabulary() const override { return vocabulary_; }

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<TokenId> tokens;
    for (std::size_t at = text.find_first_not_of(blanks); at < text.size();
         at = text.find_first_not_of(blanks, at)) {
      const std::string_view word = text.substr(at, text.find_first_of(blanks, at) - at);
      std::size_t number = 0;
      // Nine digits cannot overflow, and no vocabulary needs more.
      bool sound = word.size() <= 9;
      for (const char c : word) {
        sound = sound && c >= '0' && c <= '9';
        if (sound) number = 10 * number + static_cast<std::size_t>(c - '0');
      }
      if (!sound || number >= vocabulary_) {
        return malformed("the token numbers have " + shown(word) + " at byte " +
                         std::to_string(at) + "; expected numbers from 0 to " +
                         std::to_string(vocabulary_ - 1) + " between white space");
      }
      tokens.push_back(static_cast<TokenId>(number));
      at += word.size();
    }
    return tokens;
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> /*previous*/,
                                  TokenId token) const override {
    return std::to_string(token) + " ";
  }

 private:
  std::size_t vocabulary_;
};

}  // namespace

std::unique_ptr<Tokenizer> number_tokenizer(std::size_t vocabulary) {
  return std::make_unique<NumberTokenizer>(vocabulary);
}

}  // namespace kv::model
