#include "kvcheck/model/tokenizer/gguf_rules.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/gguf/metadata.h"

namespace kv::model {
namespace {

namespace json = boost::json;

// By their numbers in files.
enum class TokenKind { none, normal, unknown, control, user_defined, unused, byte };

struct Vocabulary {
  std::vector<std::string_view> texts;
  std::vector<double> scores;
  std::vector<TokenKind> kinds;
};

// How texts are split where words are spelled in bytes.
struct Splitting {
  std::string_view name;
  std::string_view pattern;  // empty: GPT-2's
  bool digits = false;       // before the pattern, every digit is a word of its own
  bool nfc = false;
  bool whole_words = false;  // a word that is a token is not merged from its parts
};

constexpr std::string_view by_three_digits =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view by_one_digit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array<Splitting, 12> splittings = {{
    {"gpt-2", ""},
    {"olmo", "", false, true},
    {"llama3", by_three_digits, false, false, true},
    {"llama-v3", by_three_digits, false, false, true},
    {"llama-bpe", by_three_digits, false, false, true},
    {"smaug-bpe", by_three_digits},
    {"dbrx", by_three_digits},
    {"qwen2", by_one_digit, false, true},
    {"deepseek-r1-qwen", by_one_digit, false, true},
    {"smollm", "", true},
    {"starcoder", "", true},
    {"refact", "", true},
}};

Result<Vocabulary> read_vocabulary(MetadataReader& reader) {
  Vocabulary made;
  auto texts = reader.texts("tokenizer.ggml.tokens");
  auto kinds = reader.counts("tokenizer.ggml.token_type");
  auto scores = reader.numbers("tokenizer.ggml.scores");
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (!texts || texts->empty()) {
    return malformed("has no 'tokenizer.ggml.tokens'; expected a list of texts, or --ids");
  }
  const auto lacks = [&](std::string_view name, std::size_t size) {
    return malformed("has " + std::to_string(size) + " values in " + shown(name) + "; expected " +
                     std::to_string(texts->size()) + ", one for each token");
  };
  if (kinds && kinds->size() != texts->size()) {
    return lacks("tokenizer.ggml.token_type", kinds->size());
  }
  if (scores && scores->size() != texts->size()) {
    return lacks("tokenizer.ggml.scores", scores->size());
  }
  constexpr auto most = static_cast<std::uint64_t>(TokenKind::byte);
  for (std::size_t i = 0; kinds && i < kinds->size(); ++i) {
    if ((*kinds)[i] == 0 || (*kinds)[i] > most) {
      return malformed("has the type " + std::to_string((*kinds)[i]) + " for token " +
                       std::to_string(i) + " in 'tokenizer.ggml.token_type'; expected 1 to 6");
    }
    made.kinds.push_back(static_cast<TokenKind>((*kinds)[i]));
  }
  made.kinds.resize(texts->size(), TokenKind::normal);
  made.texts = *std::move(texts);
  if (scores) made.scores = *std::move(scores);
  return made;
}

// Tokens that are not in use have no text that could become them.
Result<void> add_tokens(const Vocabulary& vocabulary, BpeRules& rules) {
  for (std::size_t i = 0; i < vocabulary.texts.size(); ++i) {
    const TokenKind kind = vocabulary.kinds[i];
    const auto token = static_cast<TokenId>(i);
    const std::string text(vocabulary.texts[i]);
    if (first_invalid_utf8(text)) {
      return malformed("has a token " + std::to_string(i) +
                       " that is not UTF-8 in 'tokenizer.ggml.tokens': " + shown(text));
    }
    if (kind == TokenKind::unused) continue;
    if (!rules.vocabulary.emplace(text, token).second) {
      return malformed("has the token " + shown(text) + " twice in 'tokenizer.ggml.tokens'");
    }
    const bool added = kind == TokenKind::control || kind == TokenKind::user_defined;
    if (added && !text.empty()) rules.added.push_back({.text = text, .token = token});
  }
  return {};
}

json::value replace_blanks(std::string_view by) {
  return {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", by}};
}

Result<void> set_splitting(const Splitting& splitting, BpeRules& rules) {
  const bool own = !splitting.pattern.empty();
  json::array steps;
  if (splitting.digits) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (own) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", splitting.pattern}}}, {"behavior", "Isolated"}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", !own}});
  const json::value sequence = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  Result<PreTokenizer> words = PreTokenizer::read(&sequence);
  if (!words) return words.error();
  rules.words = *std::move(words);
  rules.whole_words = splitting.whole_words;
  if (!splitting.nfc) return {};
  const json::value nfc = {{"type", "NFC"}};
  Result<Normalizer> normalizer = Normalizer::read(&nfc);
  if (!normalizer) return normalizer.error();
  rules.normalizer = *std::move(normalizer);
  return {};
}

Result<void> read_bytes(MetadataReader& reader, BpeRules& rules) {
  const auto name = reader.text("tokenizer.ggml.pre");
  const auto merges = reader.texts("tokenizer.ggml.merges");
  reader.require_flag("tokenizer.ggml.add_space_prefix", false);
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (!name) {
    return malformed(
        "has no 'tokenizer.ggml.pre', which says how texts are split into words; "
        "expected it, or --tokenizer or --ids");
  }
  const auto* const splitting = std::ranges::find(splittings, *name, &Splitting::name);
  if (splitting == splittings.end()) {
    std::vector<std::string_view> names;
    for (const Splitting& one : splittings) names.push_back(one.name);
    return Error{Error::Kind::unsupported,
                 "has 'tokenizer.ggml.pre' of an " + unknown_word("pre-tokenizer", *name, names)};
  }
  if (!merges) return malformed("has no 'tokenizer.ggml.merges'; expected a list of texts");
  if (auto set = set_splitting(*splitting, rules); !set) return set;
  rules.first_merge_counts = true;  // as llama.cpp has it
  for (const std::string_view merge : *merges) {
    if (auto added = add_merge_line(merge, rules); !added) return added;
  }
  return {};
}

// Whether texts are merged to such a token.
bool is_joined(TokenKind kind) {
  return kind == TokenKind::normal || kind == TokenKind::user_defined;
}

// SentencePiece joins the neighbours whose token has the highest score: every way to cut a token
// into two others is a merge, and scores are the order of merges.
Result<void> add_scored_merges(const Vocabulary& vocabulary, BpeRules& rules) {
  // Longer than any piece that SentencePiece trains; each cut costs time in proportion.
  constexpr std::size_t longest = 512;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < vocabulary.texts.size(); ++i) {
    if (!is_joined(vocabulary.kinds[i])) continue;
    if (!std::isfinite(vocabulary.scores[i]) || vocabulary.texts[i].size() > longest) {
      return malformed("has the token " + shown(vocabulary.texts[i]) + " of " +
                       std::to_string(vocabulary.texts[i].size()) + " bytes and score " +
                       shortest(vocabulary.scores[i]) + "; expected at most " +
                       std::to_string(longest) + " bytes and a finite score");
    }
    order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    return vocabulary.scores[one] > vocabulary.scores[other];
  });
  const auto known = [&](const std::string& part) {
    const auto found = rules.vocabulary.find(part);
    return found != rules.vocabulary.end() &&
           is_joined(vocabulary.kinds[static_cast<std::size_t>(found->second)]);
  };
  for (const std::size_t i : order) {
    const std::string text(vocabulary.texts[i]);
    for (std::size_t at = 0; at < text.size();) {
      at = character_end(text, at);
      if (at >= text.size()) break;
      std::string left = text.substr(0, at);
      std::string right = text.substr(at);
      if (known(left) && known(right)) rules.merges.emplace_back(std::move(left), std::move(right));
    }
  }
  return {};
}

Result<void> read_characters(MetadataReader& reader,
                             const Vocabulary& vocabulary,
                             BpeRules& rules) {
  constexpr std::string_view blank = "\u2581";
  rules.blank = blank;
  rules.blank_first = reader.flag("tokenizer.ggml.add_space_prefix").value_or(true);
  reader.require_flag("tokenizer.ggml.remove_extra_whitespaces", false);
  // Tools write the name that is the default of this kind.
  if (const auto pre = reader.text("tokenizer.ggml.pre"); pre && *pre != "default") {
    reader.keep("has 'tokenizer.ggml.pre' = " + shown(*pre) + " beside a tokenizer 'llama'; " +
                "expected 'default' or none");
  }
  const auto unknown = reader.count("tokenizer.ggml.unknown_token_id");
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (vocabulary.scores.empty()) {
    return malformed("has no 'tokenizer.ggml.scores'; expected one for each token");
  }
  json::array steps;
  if (rules.blank_first) steps.push_back({{"type", "Prepend"}, {"prepend", blank}});
  steps.push_back(replace_blanks(blank));
  const json::value sequence = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  Result<Normalizer> normalizer = Normalizer::read(&sequence);
  if (!normalizer) return normalizer.error();
  rules.normalizer = *std::move(normalizer);
  rules.byte_fallback =
      std::ranges::find(vocabulary.kinds, TokenKind::byte) != vocabulary.kinds.end();
  if (unknown && *unknown < vocabulary.texts.size()) rules.unknown = static_cast<TokenId>(*unknown);
  rules.fuse_unknown = true;
  return add_scored_merges(vocabulary, rules);
}

// Entries that change no token of a text: the numbers of special tokens, templates of chats, and
// what is put around a text, which commands do by the configuration.
void ignore_others(MetadataReader& reader) {
  for (const char* name :
       {"bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "cls", "mask", "prefix",
        "suffix", "middle", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"}) {
    reader.ignore("tokenizer.ggml." + std::string(name) + "_token_id");
  }
  for (const char* name : {"add_bos_token", "add_eos_token", "add_sep_token", "scores"}) {
    reader.ignore("tokenizer.ggml." + std::string(name));
  }
  reader.ignore_all("tokenizer.chat_template");
  reader.ignore("tokenizer.huggingface.json");
}

}  // namespace

Result<BpeRules> gguf_bpe_rules(const Gguf& gguf) {
  MetadataReader reader(gguf);
  const auto kind = reader.text("tokenizer.ggml.model");
  if (!kind && reader.problem().empty()) {
    return malformed(
        "has no 'tokenizer.ggml.model'; expected a tokenizer, or --tokenizer or --ids");
  }
  constexpr std::array<std::string_view, 2> kinds = {"gpt2", "llama"};
  if (kind && std::ranges::find(kinds, *kind) == kinds.end()) {
    return Error{Error::Kind::unsupported,
                 "has 'tokenizer.ggml.model' of an " + unknown_word("tokenizer", *kind, kinds)};
  }
  const Result<Vocabulary> vocabulary = read_vocabulary(reader);
  if (!vocabulary) return vocabulary.error();
  BpeRules rules;
  if (auto added = add_tokens(*vocabulary, rules); !added) return added.error();
  const Result<void> read =
      *kind == "gpt2" ? read_bytes(reader, rules) : read_characters(reader, *vocabulary, rules);
  if (!read) return read.error();
  ignore_others(reader);
  reader.finish("a tokenizer", "tokenizer.");
  if (!reader.problem().empty()) return malformed(reader.problem());
  return rules;
}

}  // namespace kv::model
