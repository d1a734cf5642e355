#include "kvcheck/cli/evaluate/text_notes.h"

#include <cstdint>

#include "kvcheck/base/text/describe.h"

namespace kv::cli {

std::vector<std::string> context_notes(std::size_t longest, std::size_t context) {
  if (context == 0 || longest <= context) return {};
  return {"a text of " + std::to_string(longest) + " tokens is longer than the " +
          std::to_string(context) +
          " tokens that the model was trained on; with positions=in-cache and a budget, "
          "positions stay within them"};
}

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
