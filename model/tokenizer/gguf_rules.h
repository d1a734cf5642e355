// BPE tokenizers in the metadata of GGUF files: 'gpt2' (bytes, with merges, as GPT-2, Llama 3 and
// Qwen have) and 'llama' (SentencePiece: characters with scores, as Llama 2, Mistral and Gemma
// have). Each becomes the rules that the tokenizer.json of the same vocabulary has, so both give
// the same tokens.
//
// Source: in llama.cpp (github.com/ggml-org), the keys tokenizer.* of gguf-py and the names of
// pre-tokenizers of its vocabularies; and the tokenizer.json files of the models that these are
// named for. Differs from llama.cpp where that differs from tokenizer.json: 'qwen2' and 'olmo'
// texts are normalised to NFC.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/tokenizer/bpe_rules.h"

namespace kv::model {

// Errors begin with a verb, for a caller that puts the file's name before it. Every entry of the
// tokenizer is used, known to change nothing, or refused; so is the name of a pre-tokenizer.
Result<BpeRules> gguf_bpe_rules(const Gguf& gguf);

}  // namespace kv::model
