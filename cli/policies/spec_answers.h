// A spec's answers to the eight questions, in words.
#pragma once

#include <string>
#include <string_view>

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::cli {

// The answers, a line each, as part of a definition list. `published` is the storage in the source
// of a preset; empty: the source recommends none.
std::string answers_text(const Spec& spec, std::string_view published = {});

}  // namespace kv::cli
