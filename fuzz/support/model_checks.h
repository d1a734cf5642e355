// What the program does with a model and a tokenizer that it could open.
#pragma once

#include <cstddef>
#include <string_view>

#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::fuzz {

// Runs the model over a few tokens under several specs and records a trace. Does nothing with a
// model of more than 8 layers, 256 numbers of width, or 1,024 tokens.
void try_model(const model::LanguageModel& model);

// Encodes and decodes the text and some others, and sorts the tokens into classes. If `exact`,
// decoding gives back the text.
void try_tokenizer(const model::Tokenizer& tokenizer, std::string_view text, bool exact);

}  // namespace kv::fuzz
