#include <algorithm>
#include <array>
#include <limits>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"

namespace kv::model::tokenizer_json {
namespace {

namespace json = boost::json;

bool is_token(const json::value* value) {
  return value != nullptr && value->is_int64() && value->get_int64() >= 0 &&
         value->get_int64() < std::numeric_limits<TokenId>::max();
}

// The numbers that Hugging Face's tokenizers give to added tokens, whatever the file says: that of
// the vocabulary, or the next one after it and after all added before.
class AddedNumbers {
 public:
  explicit AddedNumbers(const std::unordered_map<std::string, TokenId>& vocabulary)
      : vocabulary_(vocabulary), next_(static_cast<std::int64_t>(vocabulary.size())) {}

  Result<void> check(const std::string& text, std::int64_t number) {
    const auto known = vocabulary_.find(text);
    const bool in_vocabulary = known != vocabulary_.end();
    const std::int64_t expected =
        given_.try_emplace(text, in_vocabulary ? known->second : next_).first->second;
    next_ = std::max(next_, expected + 1);
    if (number == expected) return {};
    return malformed("gives the added token " + shown(text) + " the number " +
                     std::to_string(number) + "; expected " + std::to_string(expected) +
                     (in_vocabulary
                          ? ", as the vocabulary does"
                          : ", the next after the vocabulary and the added tokens before"));
  }

 private:
  const std::unordered_map<std::string, TokenId>& vocabulary_;
  std::int64_t next_;
  std::unordered_map<std::string, std::int64_t> given_;
};

}  // namespace

const json::value* find(const json::value* from, std::string_view name) {
  if (from == nullptr || !from->is_object()) return nullptr;
  const json::value* value = from->get_object().if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string_view text_of(const json::value* value) {
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

bool flag_of(const json::value* value, bool otherwise) {
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

Result<json::value> parse(std::string_view text) {
  json::error_code failed;
  json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
  if (failed) return malformed("is no JSON: " + failed.message());
  return parsed;
}

Error unsupported(std::string_view what, std::string_view found, std::string_view expected) {
  const std::string article =
      std::string_view("aeiou").find(what.front()) != std::string_view::npos ? "has an " : "has a ";
  return {Error::Kind::unsupported,
          article + std::string(what) + " " + shown(found) + "; expected " + std::string(expected)};
}

Result<void> known_entries(const json::value& object,
                           std::initializer_list<std::string_view> names) {
  if (!object.is_object()) return unsupported("step", json::serialize(object), "an object");
  for (const auto& [name, value] : object.get_object()) {
    const std::string_view entry(name.data(), name.size());
    if (value.is_null() || std::ranges::find(names, entry) != names.end()) continue;
    return unsupported("further entry", std::string(entry) + ": " + json::serialize(value),
                       "only entries that kvcheck obeys");
  }
  return {};
}

Result<void> check_types(const json::value& tokenizer) {
  constexpr std::array<std::string_view, 13> flags = {
      "byte_fallback", "fuse_unk", "ignore_merges", "invert", "individual_digits",
      "use_regex",     "split",    "lstrip",        "rstrip", "add_prefix_space",
      "normalized",    "special",  "single_word"};
  constexpr std::array<std::string_view, 10> texts = {
      "type",   "replacement", "prepend_scheme", "prepend",   "behavior",
      "String", "Regex",       "content",        "unk_token", "version"};
  constexpr std::array<std::string_view, 5> others = {"vocab", "merges", "post_processor",
                                                      "truncation", "padding"};
  if (tokenizer.is_array()) {
    for (const json::value& one : tokenizer.get_array()) {
      if (auto checked = check_types(one); !checked) return checked;
    }
  }
  if (!tokenizer.is_object()) return {};
  const json::object& object = tokenizer.get_object();
  if (object.contains("String") && object.contains("Regex")) {
    return unsupported("pattern", json::serialize(tokenizer), "one String or one Regex");
  }
  for (const auto& [name, value] : object) {
    const std::string_view entry(name.data(), name.size());
    const auto is_one_of = [&](const auto& names) {
      return std::ranges::find(names, entry) != names.end();
    };
    if (value.is_null() || is_one_of(others)) continue;
    const bool flag = is_one_of(flags);
    if ((flag && !value.is_bool()) || (is_one_of(texts) && !value.is_string())) {
      return malformed("has '" + std::string(entry) + "' = " + shown(json::serialize(value)) +
                       "; expected " + (flag ? "true or false" : "a text"));
    }
    if (auto checked = check_types(value); !checked) return checked;
  }
  return {};
}

Result<std::unordered_map<std::string, TokenId>> read_vocabulary(const json::value* from) {
  if (from == nullptr || !from->is_object() || from->get_object().empty()) {
    return malformed("has no vocabulary; expected an object of texts and numbers");
  }
  std::unordered_map<std::string, TokenId> vocabulary;
  std::unordered_map<TokenId, std::string> texts;
  for (const auto& [key, number] : from->get_object()) {
    if (!is_token(&number)) {
      return malformed("gives " + shown(std::string_view(key)) + " the number " +
                       json::serialize(number) + "; expected a token's number");
    }
    const auto token = static_cast<TokenId>(number.get_int64());
    // Decoding would be ambiguous. Added tokens may repeat a text of the vocabulary.
    const auto [other, fresh] = texts.emplace(token, key);
    if (!fresh) {
      return malformed("gives the number " + std::to_string(token) + " to " + shown(other->second) +
                       " and " + shown(std::string_view(key)) + "; expected a number for each");
    }
    vocabulary.emplace(key, token);
  }
  return vocabulary;
}

Result<std::vector<AddedToken>> added_tokens_of(
    const json::value* from, const std::unordered_map<std::string, TokenId>& vocabulary) {
  std::vector<AddedToken> added;
  AddedNumbers numbers(vocabulary);
  if (from == nullptr) return added;
  if (!from->is_array()) return malformed("has 'added_tokens' that are no list");
  for (const json::value& entry : from->get_array()) {
    const std::string_view text = text_of(find(&entry, "content"));
    if (text.empty() || !is_token(find(&entry, "id"))) {
      return malformed("has an added token " + shown(json::serialize(entry)) +
                       "; expected its 'content' and 'id'");
    }
    const auto known = known_entries(
        entry, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    if (!known) return known.error();
    // It would depend on the neighbours; no supported model needs it.
    if (flag_of(find(&entry, "single_word"), false)) {
      return unsupported("added token with", "single_word", "none");
    }
    const std::int64_t number = find(&entry, "id")->get_int64();
    if (auto checked = numbers.check(std::string(text), number); !checked) return checked.error();
    const bool special = flag_of(find(&entry, "special"), false);
    added.push_back({.text = std::string(text),
                     .token = static_cast<TokenId>(number),
                     .normalised = flag_of(find(&entry, "normalized"), !special),
                     .takes_left = flag_of(find(&entry, "lstrip"), false),
                     .takes_right = flag_of(find(&entry, "rstrip"), false)});
  }
  return added;
}

Result<void> put_piece(std::vector<std::string>& pieces,
                       std::size_t named,
                       TokenId token,
                       std::string piece) {
  // Vocabularies of models are numbered without large gaps; this many numbers cost 2 MB.
  constexpr std::size_t gaps = 1 << 16;
  const std::size_t end = 2 * named + gaps;
  const auto at = static_cast<std::size_t>(token);
  if (at >= end) {
    return malformed("has a token number " + std::to_string(token) + "; expected less than " +
                     std::to_string(end) + ", as it names " + std::to_string(named) + " tokens");
  }
  if (pieces.size() <= at) pieces.resize(at + 1);
  pieces[at] = std::move(piece);
  return {};
}

}  // namespace kv::model::tokenizer_json
