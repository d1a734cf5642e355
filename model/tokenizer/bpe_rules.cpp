#include "kvcheck/model/tokenizer/bpe_rules.h"

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using tokenizer_json::find;
using tokenizer_json::flag_of;
using tokenizer_json::text_of;
using tokenizer_json::unsupported;

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
    // Older files hold "left right", newer ones a pair, which allows blanks in a part.
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

Result<void> read_step(const json::value& step, BpeRules& rules) {
  const std::string_view type = text_of(find(&step, "type"));
  if (type == "Split") {
    const std::string_view pattern = text_of(find(find(&step, "pattern"), "Regex"));
    if (pattern.empty() || text_of(find(&step, "behavior")) != "Isolated" ||
        flag_of(find(&step, "invert"), false)) {
      return unsupported("pre-tokenizer", json::serialize(step), "an isolating Split by a Regex");
    }
    // In place of the default, which is GPT-2's own pattern.
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

}  // namespace

Result<BpeRules> parse_tokenizer_json(std::string_view text) {
  const Result<json::value> parsed = tokenizer_json::parse(text);
  if (!parsed) return parsed.error();
  const json::value* root = &*parsed;
  const json::value* model = find(root, "model");
  if (model == nullptr) return malformed("has no 'model'; expected a tokenizer");
  const std::string_view type = text_of(find(model, "type"));
  if (!type.empty() && type != "BPE") return unsupported("model", type, "BPE or WordLevel");
  // SentencePiece's way to spell unknown characters: its vocabulary is not one of byte characters.
  if (flag_of(find(model, "byte_fallback"), false)) {
    return unsupported("model", "BPE with byte_fallback", "byte-level BPE");
  }
  BpeRules rules;
  rules.whole_words = flag_of(find(model, "ignore_merges"), false);
  const json::value* normalizer = find(root, "normalizer");
  const std::string_view form = text_of(find(normalizer, "type"));
  rules.nfc = form == "NFC";
  if (normalizer != nullptr && !rules.nfc) return unsupported("normalizer", form, "NFC or none");
  auto vocabulary = tokenizer_json::read_vocabulary(find(model, "vocab"));
  if (!vocabulary) return vocabulary.error();
  rules.vocabulary = *std::move(vocabulary);
  if (auto read = read_merges(find(model, "merges"), rules); !read) return read.error();
  if (auto read = read_pre_tokenizer(find(root, "pre_tokenizer"), rules); !read) {
    return read.error();
  }
  auto added = tokenizer_json::read_added(find(root, "added_tokens"));
  if (!added) return added.error();
  rules.added = *std::move(added);
  return rules;
}

Result<BpeRules> parse_gpt2_files(std::string_view vocabulary, std::string_view merges) {
  const Result<json::value> parsed = tokenizer_json::parse(vocabulary);
  if (!parsed) return parsed.error();
  auto words = tokenizer_json::read_vocabulary(&*parsed);
  if (!words) return words.error();
  BpeRules rules;
  rules.vocabulary = *std::move(words);
  for (std::string_view line : split(merges, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    // The first line of GPT-2's merges.txt is "#version: 0.2".
    if (line.empty() || line.starts_with("#version")) continue;
    if (auto added = add_merge_line(line, rules); !added) return added.error();
  }
  // The two files do not say which entries are special; GPT-2 has this one.
  const auto end = rules.vocabulary.find("<|endoftext|>");
  if (end != rules.vocabulary.end()) rules.added.push_back({end->first, end->second});
  return rules;
}

}  // namespace kv::model
