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

// Decoders of vocabularies of characters: what stands for a blank, and whether one is taken from
// the start. A decoder is known by its steps, as all exports write the same ones.
Result<void> read_decoder(const json::value* from, BpeRules& rules) {
  const std::string_view type = text_of(find(from, "type"));
  if (from == nullptr || (type == "ByteLevel" && rules.words.byte_level())) return {};
  if (rules.words.byte_level()) return unsupported("decoder", type, "ByteLevel");
  if (type == "Metaspace") {
    rules.blank = text_of(find(from, "replacement"));
    const json::value* scheme = find(from, "prepend_scheme");
    rules.blank_first = scheme == nullptr ? flag_of(find(from, "add_prefix_space"), true)
                                          : text_of(scheme) != "never";
    return {};
  }
  const json::value* steps = find(from, "decoders");
  if (type != "Sequence" || steps == nullptr || !steps->is_array()) {
    return unsupported("decoder", type, "ByteLevel, Metaspace or a Sequence");
  }
  for (const json::value& step : steps->get_array()) {
    const std::string_view kind = text_of(find(&step, "type"));
    const std::string_view content = text_of(find(&step, "content"));
    if (kind == "Replace" && content == " ") {
      rules.blank = text_of(find(find(&step, "pattern"), "String"));
    } else if (kind == "Strip" && content == " " &&
               json::serialize(step).find("\"start\":1") != std::string::npos) {
      rules.blank_first = true;
    } else if (kind != "ByteFallback" && kind != "Fuse") {
      return unsupported("decoder", json::serialize(step),
                         "a Replace by a blank, ByteFallback, Fuse, or a Strip of one blank");
    }
  }
  return {};
}

Result<void> read_unknown(const json::value* model, BpeRules& rules) {
  rules.byte_fallback = flag_of(find(model, "byte_fallback"), false);
  rules.fuse_unknown = flag_of(find(model, "fuse_unk"), false);
  const std::string unknown(text_of(find(model, "unk_token")));
  if (unknown.empty()) return {};
  const auto found = rules.vocabulary.find(unknown);
  if (found == rules.vocabulary.end()) {
    return malformed("has an unk_token " + shown(unknown) + ", which is not in the vocabulary");
  }
  // Bytes are never unknown.
  if (!rules.words.byte_level()) rules.unknown = found->second;
  return {};
}

// Entries that would change tokens in a way that is not implemented.
Result<void> check_model(const json::value& model) {
  const auto known = tokenizer_json::known_entries(
      model, {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
              "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (!known) return known;
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::string_view text = text_of(find(&model, name));
    if (!text.empty()) return unsupported("model with " + std::string(name), text, "none");
  }
  const json::value* dropout = find(&model, "dropout");
  if (dropout == nullptr || *dropout == 0 || *dropout == 0.0) return {};
  return unsupported("model with dropout", json::serialize(*dropout), "none");
}

}  // namespace

Result<void> add_merge_line(std::string_view line, BpeRules& rules) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.find(' ', blank + 1) != std::string_view::npos) {
    return malformed("has merge " + std::to_string(rules.merges.size()) + " = " + shown(line) +
                     "; expected two parts and a blank between them");
  }
  return add_merge(line.substr(0, blank), line.substr(blank + 1), rules);
}

Result<BpeRules> parse_tokenizer_json(std::string_view text) {
  const Result<json::value> parsed = tokenizer_json::parse(text);
  if (!parsed) return parsed.error();
  const json::value* root = &*parsed;
  const json::value* model = find(root, "model");
  if (model == nullptr) return malformed("has no 'model'; expected a tokenizer");
  // The post-processor adds the tokens around a text, which commands do by the configuration;
  // truncation and padding are for batches.
  const auto known = tokenizer_json::known_entries(
      *root, {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
              "post_processor", "decoder", "model"});
  if (!known) return known.error();
  if (auto checked = tokenizer_json::check_types(*root); !checked) return checked.error();
  const json::value* around = find(root, "post_processor");
  if (around != nullptr && !around->is_object()) {
    return unsupported("post-processor", json::serialize(*around), "an object");
  }
  const std::string_view version = text_of(find(root, "version"));
  if (!version.empty() && version != "1.0") return unsupported("version", version, "1.0");
  const std::string_view type = text_of(find(model, "type"));
  if (!type.empty() && type != "BPE") return unsupported("model", type, "BPE or WordLevel");
  if (auto checked = check_model(*model); !checked) return checked.error();
  BpeRules rules;
  rules.whole_words = flag_of(find(model, "ignore_merges"), false);
  Result<Normalizer> normalizer = Normalizer::read(find(root, "normalizer"));
  if (!normalizer) return normalizer.error();
  rules.normalizer = *std::move(normalizer);
  Result<PreTokenizer> words = PreTokenizer::read(find(root, "pre_tokenizer"));
  if (!words) return words.error();
  rules.words = *std::move(words);
  auto vocabulary = tokenizer_json::read_vocabulary(find(model, "vocab"));
  if (!vocabulary) return vocabulary.error();
  rules.vocabulary = *std::move(vocabulary);
  if (auto read = read_merges(find(model, "merges"), rules); !read) return read.error();
  if (auto read = read_unknown(model, rules); !read) return read.error();
  if (auto read = read_decoder(find(root, "decoder"), rules); !read) return read.error();
  auto added = tokenizer_json::added_tokens_of(find(root, "added_tokens"), rules.vocabulary);
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
  Result<PreTokenizer> gpt2 = PreTokenizer::gpt2();
  if (!gpt2) return gpt2.error();
  rules.words = *std::move(gpt2);
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
