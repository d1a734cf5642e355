#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/model/tokenizer/bpe_rules.h"
#include "kvcheck/model/tokenizer/number_tokenizer.h"
#include "kvcheck/model/tokenizer/word_tokenizer.h"

namespace kv::fuzz {

bool tokenizer_json(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 2);
  try_tokenizer(*model::number_tokenizer(300), parts[1], false);
  // A vocabulary of bytes can spell every text.
  bool exact = false;
  if (model::is_word_level(parts[0])) {
    const auto words = model::parse_word_tokenizer(parts[0]);
    if (!words) return refused(words.error());
  } else {
    const Result<model::BpeRules> rules = model::parse_tokenizer_json(parts[0]);
    if (!rules) return refused(rules.error());
    exact = rules->exact();
  }
  const auto opened =
      model::open_tokenizer("model", scratch_file("tokenizer.json", parts[0]), 1 << 16);
  if (!opened) return refused(opened.error());
  try_tokenizer(**opened, parts[1], exact);
  return true;
}

}  // namespace kv::fuzz
