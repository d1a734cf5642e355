#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/files/words.h"

namespace kv::fuzz {

// The first byte is the number of tokens.
bool token_words(Input input) {
  const std::string_view text = text_of(input);
  if (text.empty()) return false;
  const std::size_t tokens = static_cast<unsigned char>(text[0]);
  const auto parsed = parse_token_words(text.substr(1), tokens);
  if (!parsed) return refused(parsed.error());
  KV_CHECK(parsed->text_ends.size() == tokens && parsed->nll.empty());
  std::int64_t before = 0;
  for (const std::int64_t end : parsed->text_ends) {
    KV_CHECK(before <= end);
    before = end;
  }
  KV_CHECK(static_cast<std::size_t>(before) == parsed->text.size());
  return true;
}

}  // namespace kv::fuzz
