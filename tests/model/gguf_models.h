// GGUF files of small models, made by tests/model/gguf_writer.py.
#pragma once

#include <string>

#include "kvcheck/tests/model/small_models.h"

namespace kv::test {

struct SmallGguf {
  std::string folder;  // config.json and model.safetensors with what the file stands for
  std::string file;    // model.gguf in it
};

// Matrices of type `type` ("F32", "Q4_K") where their rows are whole blocks. `metadata` are further
// entries, as the text of a JSON object; `tokenizer` is a tokenizer.json like that of
// small_tokenizer_json().
SmallGguf write_gguf(const SmallModel& model,
                     const std::string& type,
                     const std::string& metadata = "{}",
                     const std::string& tokenizer = "");

// A family of small_families.h, or gpt2 or gpt_neox, without what a GGUF file cannot say.
SmallModel family_for_gguf(const std::string& model_type, const std::string& rest = "");

// A Llama of 2 layers whose matrices have rows of 256: 4 heads of 64 on 2 kv-heads, inner 256,
// vocabulary 32 (or 258, for the tokenizer of small_models.h), context 64.
SmallModel wide_llama(std::size_t vocabulary = 32);

}  // namespace kv::test
