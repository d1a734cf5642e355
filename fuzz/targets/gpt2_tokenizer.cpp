#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/model/tokenizer/bpe_rules.h"
#include "kvcheck/model/tokenizer/bpe_tokenizer.h"

namespace kv::fuzz {

bool gpt2_tokenizer(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 3);
  const Result<model::BpeRules> rules = model::parse_gpt2_files(parts[0], parts[1]);
  if (!rules) return refused(rules.error());
  scratch_file("gpt2/vocab.json", parts[0]);
  scratch_file("gpt2/merges.txt", parts[1]);
  const auto opened = model::open_gpt2_tokenizer(scratch_path("gpt2"));
  if (!opened) return refused(opened.error());
  try_tokenizer(**opened, parts[2], rules->added.empty());
  return true;
}

}  // namespace kv::fuzz
