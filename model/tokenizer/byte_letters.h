// The characters that stand for bytes in vocabularies of bytes, as GPT-2's.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace kv::model {

// The printable character that stands for each byte: itself where it is visible in Latin-1, else
// the next one from 256 on. Source: bytes_to_unicode() of GPT-2's encoder.py.
const std::array<std::string, 256>& byte_characters();

// The characters of the bytes of a word: how a vocabulary spells it.
std::string byte_letters(std::string_view word);

// The bytes that a token's characters stand for. Those that stand for none, as added tokens may
// hold, are taken as they are. Requires UTF-8.
std::string bytes_behind(std::string_view text);

}  // namespace kv::model
