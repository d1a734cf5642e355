#include "kvcheck/sim/spec/kv_format.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

constexpr std::uint64_t most_tokens = std::uint64_t{1} << 31;
constexpr std::uint64_t most_group_size = 65536;

struct FormatWord {
  std::string_view word;
  KvCodes codes = KvCodes::none;
  Number full = Number::f32;
  std::uint32_t group_size = 0;
  std::uint32_t recent = 0;
};

constexpr std::array<FormatWord, 7> table = {{
    {"f32"},
    {"f16", KvCodes::none, Number::f16},
    {"bf16", KvCodes::none, Number::bf16},
    {"int8", KvCodes::int8},
    {"int4", KvCodes::int4, Number::f32, 32},
    {"kivi4", KvCodes::kivi4, Number::f32, 32, 128},
    {"kivi2", KvCodes::kivi2, Number::f32, 32, 128},
}};

constexpr std::array<std::string_view, 4> fields = {"recent", "sinks", "full", "group"};

KvFormat format_of(const FormatWord& word) {
  KvFormat format;
  format.codes = word.codes;
  format.full = word.full;
  format.group_size = word.group_size;
  format.recent = word.recent;
  return format;
}

// The word that begins the format's text; fields that equal its defaults are left out.
const FormatWord& name_of(const KvFormat& format) {
  return *std::ranges::find_if(table, [&](const FormatWord& word) {
    return word.codes == format.codes && (word.codes != KvCodes::none || word.full == format.full);
  });
}

Result<Number> full_precision(std::string_view text) {
  constexpr std::array<std::string_view, 3> words = {"f32", "f16", "bf16"};
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) return usage_error(unknown_word("full", text, words));
  return static_cast<Number>(found - words.begin());
}

Result<void> read_field(std::string_view name, std::string_view value, KvFormat& format) {
  if (std::ranges::find(fields, name) == fields.end()) {
    return usage_error(unknown_word("field", name, fields));
  }
  if (name == "full") {
    const auto full = full_precision(value);
    if (!full) return full.error();
    format.full = *full;
    return {};
  }
  const bool sizes_group = name == "group";
  // Keys that are quantised together need a number of tokens; "all" is for channels only.
  const std::uint64_t least = sizes_group && format.groups_tokens() ? 1 : 0;
  const auto count = parse_count(value, name, least, sizes_group ? most_group_size : most_tokens);
  if (!count) return count.error();
  (sizes_group        ? format.group_size
   : name == "recent" ? format.recent
                      : format.sinks) = static_cast<std::uint32_t>(*count);
  return {};
}

}  // namespace

std::string KvFormat::text() const {
  const FormatWord& word = name_of(*this);
  std::string out(word.word);
  const auto add = [&](std::string_view name, const std::string& value) {
    out += (out.size() == word.word.size() ? ":" : ",") + std::string(name) + "=" + value;
  };
  if (recent != word.recent) add("recent", std::to_string(recent));
  if (sinks != 0) add("sinks", std::to_string(sinks));
  if (full != word.full) add("full", full == Number::f16 ? "f16" : "bf16");
  if (group_size != word.group_size) add("group", std::to_string(group_size));
  return out;
}

Result<KvFormat> parse_kv_format(std::string_view text, std::string_view what) {
  const std::string_view name = text.substr(0, text.find(':'));
  const std::string begin = std::string(what) + " " + std::string(name);
  const auto found = std::ranges::find(table, name, &FormatWord::word);
  if (found == table.end()) {
    std::vector<std::string_view> words;
    for (const FormatWord& word : table) words.push_back(word.word);
    const std::string wrong = unknown_word(what, name, words);
    const std::string_view before = name.substr(0, name.find_first_of(";,"));
    const bool separated = std::ranges::find(words, before) != words.end();
    return usage_error(wrong + (separated ? "; fields follow a ':', as in int4:recent=128" : ""));
  }
  KvFormat format = format_of(*found);
  if (name.size() == text.size()) return format;
  const std::string given(text.substr(name.size() + 1));
  if (format.codes == KvCodes::none) {
    return usage_error(begin + " stores all tokens in the same form, and '" +
                       printable_line(given) + "' distinguishes some; expected " +
                       std::string(name) + " alone, or codes: int8, int4, kivi4 or kivi2");
  }
  std::set<std::string_view> seen;
  for (const std::string_view field : split(given, ',')) {
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string_view key = field.substr(0, equals);
    if (equals == field.size()) {
      return usage_error(begin + ": '" + printable_line(field) +
                         "' is no field; expected NAME=VALUE, as in recent=128");
    }
    if (auto read = read_field(key, field.substr(equals + 1), format); !read) {
      return usage_error(begin + ": " + read.error().message);
    }
    if (!seen.insert(key).second) {
      return usage_error(begin + " is given " + std::string(key) + " twice");
    }
  }
  // A field without effect is an error rather than ignored: two texts would mean one format, and
  // their results would not be found together.
  if (seen.contains("full") && !format.has_tiers()) {
    return usage_error("full is about tokens in full precision, and " + begin +
                       " keeps none; expected recent or sinks beside it");
  }
  return format;
}

Result<void> check_format(const Spec& spec, const KvFormat& format) {
  if (spec.positions == Positions::shifted && format.groups_tokens()) {
    return usage_error("positions=shifted rotates stored keys one by one, and those of " +
                       format.text() +
                       " share a scale with other tokens'; expected positions=in-cache, or int8 or "
                       "int4 as storage");
  }
  if (spec.vectors == Vectors::re_evaluated && format.has_tiers()) {
    return usage_error("vectors=re-evaluated makes all vectors anew, and " + format.text() +
                       " stores them by their age in the stream; expected storage without recent "
                       "and sinks, or vectors=kept");
  }
  if (spec.selects() && format.has_tiers()) {
    return usage_error("visibility=top-pages ranks pages by their keys as they are stored, and " +
                       format.text() +
                       " quantises keys after their page is known; expected storage without recent "
                       "and sinks, as int4");
  }
  return {};
}

}  // namespace kv
