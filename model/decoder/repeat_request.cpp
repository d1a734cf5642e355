#include "kvcheck/model/decoder/repeat_request.h"

namespace kv::model {

std::vector<TokenId> repeat_request(const Tokenizer& tokenizer) {
  const auto tokens = tokenizer.encode("\n\nWrite the text above once more, word for word:\n");
  return tokens ? *tokens : std::vector<TokenId>();
}

}  // namespace kv::model
