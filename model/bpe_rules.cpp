#include "model/bpe_rules.h"

#include <boost/json.hpp>
#include <limits>

#include "base/words.h"
#include "traces/describe.h"

namespace kv {
namespace {

namespace json = boost::json;

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

bool is_token(const json::value* value) {
  return value != nullptr && value->is_int64() && value->get_int64() >= 0 &&
         value->get_int64() < std::numeric_limits<Token>::max();
}

Result<void> read_vocabulary(const json::value* from, BpeRules& rules) {
  if (from == nullptr || !from->is_object() || from->get_object().empty()) {
    return malformed("has no vocabulary; expected an object of texts and numbers");
  }
  for (const auto& [key, number] : from->get_object()) {
    if (!is_token(&number)) {
      return malformed("gives " + shown(std::string_view(key)) + " the number " +
                       json::serialize(number) + "; expected a token's number");
    }
    rules.vocabulary.emplace(key, static_cast<Token>(number.get_int64()));
  }
  return {};
}

Result<void> add_merge(std::string_view left, std::string_view right, BpeRules& rules) {
  const std::string rank = std::to_string(rules.merges.size());
  const std::string joined = std::string(left) + std::string(right);
  for (const std::string& part : {std::string(left), std::string(right), joined}) {
    if (rules.vocabulary.contains(part)) continue;
    return malformed("has merge " + rank + " with " + shown(part) +
                     ", which is not in the vocabulary");
  }
  rules.merges.emplace_back(left, right);
  return {};
}

Result<void> add_merge_line(std::string_view line, BpeRules& rules) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.find(' ', blank + 1) != std::string_view::npos) {
    return malformed("has merge " + std::to_string(rules.merges.size()) + " = " + shown(line) +
                     "; expected two parts and a blank between them");
  }
  return add_merge(line.substr(0, blank), line.substr(blank + 1), rules);
}

Result<void> read_merges(const json::value* from, BpeRules& rules) {
  if (from == nullptr || !from->is_array()) return malformed("has no list of merges");
  for (const json::value& merge : from->get_array()) {
    Result<void> added;
    if (merge.is_string()) {
      added = add_merge_line(text_of(&merge), rules);
    } else if (merge.is_array() && merge.get_array().size() == 2) {
      const json::array& pair = merge.get_array();
      added = add_merge(text_of(&pair[0]), text_of(&pair[1]), rules);
    } else {
      added = malformed("has merge " + std::to_string(rules.merges.size()) + " = " +
                        shown(json::serialize(merge)) + "; expected a pair");
    }
    if (!added) return added;
  }
  return {};
}

Error unsupported(std::string_view what, std::string_view found, std::string_view expected) {
  return {Error::Kind::unsupported, "has a " + std::string(what) + " " + shown(found) +
                                        "; expected " + std::string(expected)};
}

Result<void> read_step(const json::value& step, BpeRules& rules) {
  const std::string_view type = text_of(find(&step, "type"));
  if (type == "Split") {
    const std::string_view pattern = text_of(find(find(&step, "pattern"), "Regex"));
    if (pattern.empty() || text_of(find(&step, "behavior")) != "Isolated" ||
        flag_of(find(&step, "invert"), false)) {
      return unsupported("pre-tokenizer", json::serialize(step), "an isolating Split by a Regex");
    }
    rules.pattern = pattern;
    return {};
  }
  if (type == "ByteLevel") {
    if (flag_of(find(&step, "add_prefix_space"), false)) {
      return unsupported("pre-tokenizer", "ByteLevel with add_prefix_space", "none added");
    }
    return {};
  }
  return unsupported("pre-tokenizer", type, "ByteLevel, or Split and ByteLevel");
}

Result<void> read_pre_tokenizer(const json::value* from, BpeRules& rules) {
  if (from == nullptr) return unsupported("pre-tokenizer", "none", "ByteLevel");
  const json::value* steps = find(from, "pretokenizers");
  if (text_of(find(from, "type")) != "Sequence" || steps == nullptr || !steps->is_array()) {
    return read_step(*from, rules);
  }
  for (const json::value& step : steps->get_array()) {
    if (Result<void> read = read_step(step, rules); !read) return read;
  }
  return {};
}

Result<void> read_added(const json::value* from, BpeRules& rules) {
  if (from == nullptr) return {};
  if (!from->is_array()) return malformed("has 'added_tokens' that are no list");
  for (const json::value& entry : from->get_array()) {
    const std::string_view text = text_of(find(&entry, "content"));
    if (text.empty() || !is_token(find(&entry, "id"))) {
      return malformed("has an added token " + shown(json::serialize(entry)) +
                       "; expected its 'content' and 'id'");
    }
    for (const char* const name : {"lstrip", "rstrip", "single_word"}) {
      if (flag_of(find(&entry, name), false)) return unsupported("added token with", name, "none");
    }
    rules.added.push_back({std::string(text), static_cast<Token>(find(&entry, "id")->get_int64())});
  }
  return {};
}

}  // namespace

Result<BpeRules> parse_tokenizer_json(std::string_view text) {
  const Result<json::value> parsed = parse(text);
  if (!parsed) return parsed.error();
  const json::value* root = &*parsed;
  const json::value* model = find(root, "model");
  if (model == nullptr) return malformed("has no 'model'; expected a tokenizer");
  const std::string_view type = text_of(find(model, "type"));
  if (!type.empty() && type != "BPE") return unsupported("model", type, "BPE");
  if (flag_of(find(model, "byte_fallback"), false)) {
    return unsupported("model", "BPE with byte_fallback", "byte-level BPE");
  }
  BpeRules rules;
  rules.whole_words = flag_of(find(model, "ignore_merges"), false);
  const json::value* normalizer = find(root, "normalizer");
  const std::string_view form = text_of(find(normalizer, "type"));
  rules.nfc = form == "NFC";
  if (normalizer != nullptr && !rules.nfc) return unsupported("normalizer", form, "NFC or none");
  if (auto read = read_vocabulary(find(model, "vocab"), rules); !read) return read.error();
  if (auto read = read_merges(find(model, "merges"), rules); !read) return read.error();
  if (auto read = read_pre_tokenizer(find(root, "pre_tokenizer"), rules); !read) {
    return read.error();
  }
  if (auto read = read_added(find(root, "added_tokens"), rules); !read) return read.error();
  return rules;
}

Result<BpeRules> parse_gpt2_files(std::string_view vocabulary, std::string_view merges) {
  const Result<json::value> parsed = parse(vocabulary);
  if (!parsed) return parsed.error();
  BpeRules rules;
  if (auto read = read_vocabulary(&*parsed, rules); !read) return read.error();
  for (std::string_view line : split(merges, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    if (auto added = add_merge_line(line, rules); !added) return added.error();
  }
  const auto end = rules.vocabulary.find("<|endoftext|>");
  if (end != rules.vocabulary.end()) rules.added.push_back({end->first, end->second});
  return rules;
}

}  // namespace kv
