#include "kvcheck/model/tokenizer/pre_tokenizer.h"

#include <array>
#include <utility>

#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using tokenizer_json::find;
using tokenizer_json::flag_of;
using tokenizer_json::known_entries;
using tokenizer_json::text_of;
using tokenizer_json::unsupported;

// A pattern that matches the text itself.
std::string quoted(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    // In UTF-8 only characters of one byte have a meaning in patterns.
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (!plain) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string with_blanks(std::string_view word, std::string_view blank) {
  std::string out;
  for (const char c : word) {
    if (c == ' ') {
      out += blank;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::gpt2() {
  PreTokenizer made;
  if (auto added = made.add_regex(std::string(gpt2_pattern), {}); !added) return added.error();
  made.byte_level_ = true;
  return made;
}

Result<void> PreTokenizer::add_regex(const std::string& pattern, Step step) {
  Result<UnicodeRegex> regex = UnicodeRegex::compile(pattern);
  if (!regex) return regex.error();
  step.regex.push_back(*std::move(regex));
  steps_.push_back(std::move(step));
  return {};
}

Result<void> PreTokenizer::add_split(const json::value& step) {
  if (auto known = known_entries(step, {"type", "pattern", "behavior", "invert"}); !known) {
    return known;
  }
  constexpr std::array<std::string_view, 5> words = {"Isolated", "Removed", "MergedWithPrevious",
                                                     "MergedWithNext", "Contiguous"};
  const std::string_view word = text_of(find(&step, "behavior"));
  const auto* const found = std::ranges::find(words, word);
  std::string pattern(text_of(find(find(&step, "pattern"), "Regex")));
  const std::string_view literal = text_of(find(find(&step, "pattern"), "String"));
  if (pattern.empty()) pattern = quoted(literal);
  if (pattern.empty() || found == words.end() || flag_of(find(&step, "invert"), false)) {
    return unsupported("pre-tokenizer", json::serialize(step),
                       "a Split by a Regex or String that is not inverted");
  }
  const auto behaviour = static_cast<Behaviour>(found - words.begin());
  if (behaviour == Behaviour::removed) exact_ = false;
  return add_regex(pattern, {.behaviour = behaviour});
}

Result<void> PreTokenizer::add_digits(const json::value& step) {
  if (auto known = known_entries(step, {"type", "individual_digits"}); !known) return known;
  const bool each = flag_of(find(&step, "individual_digits"), false);
  return add_regex(each ? R"(\p{N})" : R"(\p{N}+)", {});
}

Result<void> PreTokenizer::add_metaspace(const json::value& step) {
  const auto known = known_entries(
      step, {"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"});
  if (!known) return known;
  const std::string blank(text_of(find(&step, "replacement")));
  // Before the scheme had an entry, a flag said whether the prefix is always put.
  const bool always = flag_of(find(&step, "add_prefix_space"), true);
  const json::value* given = find(&step, "prepend_scheme");
  const std::string_view scheme = given != nullptr ? text_of(given) : always ? "always" : "never";
  constexpr std::array<std::string_view, 3> schemes = {"never", "first", "always"};
  const auto* const found = std::ranges::find(schemes, scheme);
  if (blank.empty() || found == schemes.end()) {
    return unsupported("pre-tokenizer", json::serialize(step),
                       "a Metaspace with a replacement, that prepends never, first or always");
  }
  exact_ = false;
  Step made{.behaviour = Behaviour::merged_with_next,
            .blank = blank,
            .put_first = blank,
            .prefix = static_cast<Prefix>(found - schemes.begin())};
  if (flag_of(find(&step, "split"), true)) return add_regex(quoted(blank), std::move(made));
  steps_.push_back(std::move(made));
  return {};
}

Result<void> PreTokenizer::add_byte_level(const json::value& step) {
  const auto known = known_entries(step, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (!known) return known;
  byte_level_ = true;
  const bool prefixed = flag_of(find(&step, "add_prefix_space"), false);
  Step made{.put_first = prefixed ? " " : "", .prefix = prefixed ? Prefix::always : Prefix::never};
  if (prefixed) exact_ = false;
  if (flag_of(find(&step, "use_regex"), true)) {
    return add_regex(std::string(gpt2_pattern), std::move(made));
  }
  steps_.push_back(std::move(made));
  return {};
}

Result<void> PreTokenizer::add(const json::value& step) {
  const std::string_view type = text_of(find(&step, "type"));
  if (byte_level_) return unsupported("pre-tokenizer", type, "nothing after ByteLevel");
  if (type == "Split") return add_split(step);
  if (type == "Digits") return add_digits(step);
  if (type == "Metaspace") return add_metaspace(step);
  if (type == "ByteLevel") return add_byte_level(step);
  return unsupported("pre-tokenizer", type, "Split, Digits, Metaspace, ByteLevel or a Sequence");
}

Result<PreTokenizer> PreTokenizer::read(const json::value* from) {
  PreTokenizer made;
  if (from == nullptr) return made;
  const json::value* steps = find(from, "pretokenizers");
  if (text_of(find(from, "type")) != "Sequence" || steps == nullptr || !steps->is_array()) {
    if (auto added = made.add(*from); !added) return added.error();
    return made;
  }
  for (const json::value& step : steps->get_array()) {
    if (auto added = made.add(step); !added) return added.error();
  }
  return made;
}

// What no match covers is a word of its own; so is a match, unless it is removed or joins one of
// its neighbours.
Result<void> PreTokenizer::cut(std::string_view word,
                               const Step& step,
                               std::vector<std::string>& into) {
  std::vector<std::pair<std::string_view, bool>> parts;  // and whether each is a match
  std::size_t done = 0;
  const auto put = [&](std::size_t begin, std::size_t end, bool match) {
    if (end > begin) parts.emplace_back(word.substr(begin, end - begin), match);
  };
  const auto all = step.regex.front().for_each_match(word, [&](std::size_t begin, std::size_t end) {
    put(done, begin, false);
    put(begin, end, true);
    done = end;
  });
  if (!all) return all;
  put(done, word.size(), false);
  // Neighbours in `parts` are neighbours in the word, so two of them are one view.
  const auto joined = [](std::string_view left, std::string_view right) {
    return std::string_view(left.data(), left.size() + right.size());
  };
  std::vector<std::pair<std::string_view, bool>> words;
  for (const auto& [part, match] : parts) {
    const bool after_plain = !words.empty() && !words.back().second;
    const bool after_match = !words.empty() && words.back().second;
    if (match && step.behaviour == Behaviour::removed) continue;
    if ((match && step.behaviour == Behaviour::merged_with_previous && after_plain) ||
        (!match && step.behaviour == Behaviour::merged_with_next && after_match) ||
        (match && step.behaviour == Behaviour::contiguous && after_match)) {
      // What took a neighbour in takes no other.
      const bool still = step.behaviour == Behaviour::contiguous;
      words.back() = {joined(words.back().first, part), still || match};
      continue;
    }
    words.emplace_back(part, match);
  }
  for (const auto& [one, match] : words) into.emplace_back(one);
  return {};
}

Result<std::vector<std::string>> PreTokenizer::split(std::string_view text, bool first) const {
  std::vector<std::string> words;
  if (!text.empty()) words.emplace_back(text);
  for (const Step& step : steps_) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string word = step.blank.empty() ? words[i] : with_blanks(words[i], step.blank);
      const bool put =
          step.prefix == Prefix::always || (step.prefix == Prefix::first && first && i == 0);
      if (put && !word.starts_with(step.put_first)) word.insert(0, step.put_first);
      if (step.regex.empty()) {
        next.push_back(std::move(word));
      } else if (auto done = cut(word, step, next); !done) {
        return done.error();
      }
    }
    words = std::move(next);
  }
  return words;
}

}  // namespace kv::model
