#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/model/gguf/container.h"

namespace kv::fuzz {

bool llama2c(Input input) {
  const Result<model::LanguageModel> opened =
      model::open_model(scratch_file("llama2c.bin", text_of(input)));
  if (!opened) return refused(opened.error());
  try_model(*opened);
  return true;
}

// Model and tokenizer are tried each for itself: a file may hold one that is right.
bool gguf(Input input) {
  const Result<model::Gguf> parsed = model::parse_gguf(std::as_bytes(input));
  if (!parsed) return refused(parsed.error());
  const std::string path = scratch_file("model.gguf", text_of(input));
  const Result<model::LanguageModel> opened = model::open_model(path);
  const auto tokenizer = model::open_tokenizer(path, "", 1 << 16);
  if (tokenizer) try_tokenizer(**tokenizer, "ab \u00e9 12", false);
  if (opened) try_model(*opened);
  if (!opened && !tokenizer) return refused(opened.error());
  return true;
}

}  // namespace kv::fuzz
