#include "kvcheck/cli/evaluate/text_notes.h"

#include <cstdint>

#include "kvcheck/base/text/describe.h"

namespace kv::cli {

std::vector<std::string> text_notes(const Arguments& arguments,
                                    const std::string& text,
                                    std::size_t tokens) {
  std::vector<std::string> notes;
  const auto asked = arguments.count("tokens", 0, ~std::uint64_t{0});
  if (arguments.given("tokens") && asked && tokens < asked->value()) {
    notes.push_back("the text has " + std::to_string(tokens) + " tokens, fewer than --tokens " +
                    arguments.value("tokens"));
  }
  const std::string word = arguments.value("split");
  if (!word.empty() && text.find(word) == std::string::npos) {
    notes.push_back("the text has no " + shown(word) + ", so --split cuts nothing");
  }
  return notes;
}

}  // namespace kv::cli
