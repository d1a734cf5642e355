#include "kvcheck/model/tokenizer/added_tokens.h"

#include <algorithm>

namespace kv::model {
namespace {

std::size_t blanks_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    std::size_t at = begin - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_white_space(text.substr(at, begin - at))) break;
    begin = at;
  }
  return text.size() - begin;
}

std::size_t blanks_at_start(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = character_end(text, end);
    if (!is_white_space(text.substr(end, next - end))) break;
    end = next;
  }
  return end;
}

}  // namespace

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
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const added = found_at(text.substr(at));
    if (added == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    std::size_t end = at + added->text.size();
    at = end;
    // White space that the token before took in is gone. A token inside of it is one all the same.
    if (added->takes_left && begin > done) begin -= blanks_at_end(text.substr(done, begin - done));
    if (added->takes_right) end += blanks_at_start(text.substr(end));
    if (begin > done) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({text.substr(begin, end - begin), added});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
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
    } else if (auto done = plain(part.text, part.text.data() == text.data(), tokens); !done) {
      return done.error();
    }
  }
  return tokens;
}

}  // namespace kv::model
