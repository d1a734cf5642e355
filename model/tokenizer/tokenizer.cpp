#include "kvcheck/model/tokenizer/tokenizer.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <filesystem>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/tokenizer/bpe_tokenizer.h"
#include "kvcheck/model/tokenizer/llama2c_tokenizer.h"

namespace kv::model {

namespace {

// By the names that llama2.c's scripts give them.
Result<std::unique_ptr<Tokenizer>> open_beside_checkpoint(const std::string& checkpoint,
                                                          std::size_t vocabulary) {
  const std::string own = "tok" + std::to_string(vocabulary) + ".bin";
  for (const std::string& name : {own, std::string("tokenizer.bin")}) {
    const std::string path = std::filesystem::path(checkpoint).replace_filename(name).string();
    if (std::filesystem::exists(path)) return open_llama2c_tokenizer(path, vocabulary);
  }
  return usage_error("neither " + own + " nor tokenizer.bin lies beside the checkpoint " +
                     shown(checkpoint) + "; expected --tokenizer FILE");
}

}  // namespace

Result<std::string> Tokenizer::decode(std::span<const TokenId> tokens) const {
  std::string text;
  std::optional<TokenId> previous;
  for (const TokenId token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= vocabulary()) {
      return malformed("token " + std::to_string(token) + " is out of range; expected 0 to " +
                       std::to_string(vocabulary() - 1));
    }
    text += piece(previous, token);
    previous = token;
  }
  return text;
}

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& model,
                                                  const std::string& given,
                                                  std::size_t vocabulary) {
  const std::string folder = given.empty() ? model : given;
  if (!std::filesystem::is_directory(folder)) {
    if (is_gguf(folder)) return open_gguf_tokenizer(folder);
    if (given.empty()) return open_beside_checkpoint(model, vocabulary);
    if (given.ends_with(".json")) return open_tokenizer_json(given);
    return open_llama2c_tokenizer(given, vocabulary);
  }
  // tokenizer.json first: it alone says which tokens are special and how text is split.
  const std::string whole = folder + "/tokenizer.json";
  if (std::filesystem::exists(whole)) return open_tokenizer_json(whole);
  if (std::filesystem::exists(folder + "/vocab.json")) return open_gpt2_tokenizer(folder);
  return Error{Error::Kind::not_found,
               shown(folder) + " has neither tokenizer.json nor vocab.json with merges.txt"};
}

std::vector<TokenClass> token_classes(const Tokenizer& tokenizer) {
  std::vector<TokenClass> classes;
  for (std::size_t number = 0; number < tokenizer.vocabulary(); ++number) {
    classes.push_back(token_class_of(tokenizer.piece(std::nullopt, static_cast<TokenId>(number))));
  }
  return classes;
}

std::size_t character_end(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

bool is_white_space(std::string_view character) {
  if (character.size() == 1) return character == " " || (character >= "\t" && character <= "\r");
  const icu::StringPiece bytes(character.data(), static_cast<std::int32_t>(character.size()));
  return u_isUWhiteSpace(icu::UnicodeString::fromUTF8(bytes).char32At(0)) != 0;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return {};
}

Error not_utf8(std::size_t offset) {
  return malformed("the text is not UTF-8 at byte " + std::to_string(offset));
}

}  // namespace kv::model
