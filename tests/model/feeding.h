// Texts fed to a decoder in chunks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/model/decoder/decoder.h"

namespace kv::model {

// The logits of every token of the text under the spec, fed by `chunk` tokens at a time.
std::vector<float> logits_in_chunks(const LanguageModel& model,
                                    const std::string& spec,
                                    const std::vector<TokenId>& text,
                                    std::size_t chunk,
                                    const DecoderOptions& options = {});

}  // namespace kv::model
