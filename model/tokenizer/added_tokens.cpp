#include "kvcheck/model/tokenizer/added_tokens.h"

#include <algorithm>

namespace kv::model {

AddedTokens::AddedTokens(std::span<const AddedToken> tokens) {
  for (const AddedToken& added : tokens) {
    by_first_byte_[static_cast<unsigned char>(added.text[0])].push_back(added);
  }
  for (auto& list : by_first_byte_) {
    // The longest match wins, and of equal texts the one that the file lists first.
    std::ranges::stable_sort(list, [](const AddedToken& a, const AddedToken& b) {
      return a.text.size() > b.text.size();
    });
  }
}

std::vector<TextPart> AddedTokens::cut(std::string_view text) const {
  std::vector<TextPart> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const added = found_at(text.substr(at));
    if (added == nullptr) {
      ++at;
      continue;
    }
    if (at > begin) parts.push_back({text.substr(begin, at - begin), nullptr});
    parts.push_back({text.substr(at, added->text.size()), added});
    at += added->text.size();
    begin = at;
  }
  if (begin < text.size()) parts.push_back({text.substr(begin), nullptr});
  return parts;
}

const AddedToken* AddedTokens::found_at(std::string_view text) const {
  for (const AddedToken& added : by_first_byte_[static_cast<unsigned char>(text[0])]) {
    if (text.starts_with(added.text)) return &added;
  }
  return nullptr;
}

Result<std::vector<TokenId>> AddedTokens::encode(std::string_view text,
                                                 const EncodePlain& plain) const {
  if (const auto bad = first_invalid_utf8(text)) return not_utf8(*bad);
  std::vector<TokenId> tokens;
  // Cut first: neither normalisation nor merges may reach across an added token.
  for (const TextPart& part : cut(text)) {
    if (part.added != nullptr) {
      tokens.push_back(part.added->token);
    } else if (auto done = plain(part.text, tokens); !done) {
      return done.error();
    }
  }
  return tokens;
}

}  // namespace kv::model
