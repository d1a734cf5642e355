#include "kvcheck/model/tokenizer/llama2c_tokenizer.h"

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {
namespace {

// A file of 259 tokens that spell every byte, with the tokens of `more` after them.
std::string whole_file(std::string_view more) {
  std::string file(4, '\0');
  const auto add = [&](std::string_view text) {
    file.append(4, '\0').append(1, static_cast<char>(text.size())).append(3, '\0').append(text);
  };
  for (int i = 0; i < 3; ++i) add("<s>");
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
  return file.append(more);
}

}  // namespace

// The input is a text, then the number of tokens beyond the bytes as one byte, then these tokens as
// the file holds them: an f32 score, a 32-bit length and the bytes.
bool llama2c_tokenizer(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 2);
  const std::size_t count = parts[1].empty() ? 0 : static_cast<unsigned char>(parts[1].front());
  const std::string_view tokens = parts[1].substr(parts[1].empty() ? 0 : 1);
  const std::string path = scratch_file("tokenizer.bin", whole_file(tokens));
  const auto opened = model::open_llama2c_tokenizer(path, 259 + count);
  if (!opened) return refused(opened.error());
  KV_CHECK((*opened)->vocabulary() == 259 + count);
  try_tokenizer(**opened, parts[0], false);
  return true;
}

}  // namespace kv::fuzz
