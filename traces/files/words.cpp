#include "kvcheck/traces/files/words.h"

#include <boost/json.hpp>
#include <string>

namespace kv {

Result<Transcript> parse_token_words(std::string_view json, std::size_t tokens) {
  boost::system::error_code failed;
  const boost::json::value parsed =
      boost::json::parse(boost::json::string_view(json.data(), json.size()), failed);
  const std::string expected =
      "expected a JSON list with the text of each of the " + std::to_string(tokens) + " tokens";
  if (failed) return malformed("the words are not JSON (" + failed.message() + "); " + expected);
  const boost::json::array* const list = parsed.if_array();
  if (list == nullptr) return malformed("the words are JSON but not a list; " + expected);
  if (list->size() != tokens) {
    return malformed("the list of words has " + std::to_string(list->size()) + " entries; " +
                     expected);
  }
  Transcript transcript;
  for (const boost::json::value& entry : *list) {
    const boost::json::string* const word = entry.if_string();
    if (word == nullptr) {
      return malformed("entry " + std::to_string(transcript.text_ends.size()) +
                       " of the list of words is not a string; " + expected);
    }
    transcript.text.append(word->data(), word->size());
    transcript.text_ends.push_back(static_cast<std::int64_t>(transcript.text.size()));
  }
  return transcript;
}

}  // namespace kv
