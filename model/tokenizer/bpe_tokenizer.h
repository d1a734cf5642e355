// Byte-pair encoding: of bytes, as GPT-2, GPT-NeoX, Llama 3 and Qwen2 use it, or of characters with
// bytes for those that are no token, as Llama 2, Mistral and Gemma use it.
//
// Source: the format of Hugging Face's tokenizer.json (model type BPE) and GPT-2's vocab.json with
// merges.txt. Added tokens are cut out of the text, the rest is normalised (normalizer.h) and split
// into words (pre_tokenizer.h); a word's bytes, written as 256 printable characters, or its
// characters are joined by the merge of lowest rank until none applies. ICU gives Unicode's
// classes, the patterns and NFC.
#pragma once

#include <memory>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// Also of a WordLevel model, for which see model/tokenizer/word_tokenizer.h. Errors name the file
// and what in it is missing, contradicts itself, or is not supported.
Result<std::unique_ptr<Tokenizer>> open_tokenizer_json(const std::string& path);

// The tokenizer in the metadata of a GGUF file; see model/tokenizer/gguf_rules.h.
Result<std::unique_ptr<Tokenizer>> open_gguf_tokenizer(const std::string& path);

// vocab.json and merges.txt of a folder. <|endoftext|> is special, if the vocabulary has it.
Result<std::unique_ptr<Tokenizer>> open_gpt2_tokenizer(const std::string& folder);

}  // namespace kv::model
