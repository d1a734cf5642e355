#include "kvcheck/tests/model/feeding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace kv::model {

std::vector<float> logits_in_chunks(const LanguageModel& model,
                                    const std::string& spec,
                                    const std::vector<TokenId>& text,
                                    std::size_t chunk,
                                    const DecoderOptions& options) {
  Decoder decoder = Decoder::create(model, parse_spec(spec).value(), options).value();
  std::vector<float> all;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    const std::size_t size = std::min(chunk, text.size() - at);
    EXPECT_TRUE(decoder.feed(std::span(text).subspan(at, size)));
    all.insert(all.end(), decoder.logits().begin(), decoder.logits().end());
  }
  return all;
}

}  // namespace kv::model
