#include "kvcheck/properties/case.h"

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::properties {
namespace {

constexpr std::string_view letters = "fktrods";  // of the kinds of calls

bool has_amount(Call::Kind kind) {
  return kind == Call::Kind::feed || kind == Call::Kind::truncate || kind == Call::Kind::shift;
}

void add_field(std::string& text, std::string_view name, std::uint64_t value) {
  if (!text.empty() && text.back() != '=' && text.back() != ';') text += ',';
  text += name;
  text += '=';
  text += std::to_string(value);
}

std::string setup_text(const Setup& setup) {
  std::string text;
  add_field(text, "sinks", setup.sinks);
  add_field(text, "recent", setup.recent);
  add_field(text, "budget", setup.budget);
  if (setup.layers != 1) add_field(text, "layers", setup.layers);
  if (setup.kv_heads != 1) add_field(text, "kv-heads", setup.kv_heads);
  if (setup.group != 1) add_field(text, "group", setup.group);
  if (setup.sequences != 1) add_field(text, "sequences", setup.sequences);
  if (setup.seed != 0) add_field(text, "seed", setup.seed);
  return text;
}

std::string stream_text(const Stream& stream) {
  std::string text{name_of(stream.kind)};
  if (stream.seed != 0) add_field(text, "seed", stream.seed);
  if (stream.planted != 0) add_field(text, "planted", stream.planted);
  if (stream.until >= 0) add_field(text, "until", static_cast<std::uint32_t>(stream.until));
  return text;
}

Error bad_word(std::string_view what, std::string_view word, std::string_view expected) {
  return usage_error(std::string(what) + " \"" + printable_line(word) + "\": expected " +
                     std::string(expected));
}

struct Field {
  std::string_view name;
  std::uint32_t* value;
  std::uint64_t most;
};

Result<void> set_field(std::string_view word, std::span<const Field> fields) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  std::vector<std::string_view> names;
  for (const Field& field : fields) {
    names.push_back(field.name);
    if (field.name != name) continue;
    if (equals == std::string_view::npos) return bad_word("field", word, "name=number");
    const auto count = parse_count(word.substr(equals + 1), name, 0, field.most);
    if (!count) return count.error();
    *field.value = static_cast<std::uint32_t>(*count);
    return {};
  }
  return usage_error(unknown_word("field of a case", name, names));
}

Result<Setup> parse_setup(std::string_view text) {
  Setup setup;
  std::uint32_t seed = 0;
  const std::vector<Field> fields = {
      {"sinks", &setup.sinks, 1U << 20U},   {"recent", &setup.recent, 1U << 20U},
      {"budget", &setup.budget, 1U << 20U}, {"layers", &setup.layers, 64},
      {"kv-heads", &setup.kv_heads, 64},    {"group", &setup.group, 64},
      {"sequences", &setup.sequences, 64},  {"seed", &seed, 0xffffffffU}};
  for (const std::string_view word : split(text, ',')) {
    if (const auto set = set_field(word, fields); !set) return set.error();
  }
  setup.seed = seed;
  if (setup.layers == 0 || setup.kv_heads == 0 || setup.group == 0 || setup.sequences == 0) {
    return usage_error("case \"" + printable_line(text) +
                       "\": layers, kv-heads, group and sequences must be at least 1");
  }
  return setup;
}

Result<Stream> parse_stream(std::string_view text) {
  constexpr std::string_view key = "stream=";
  constexpr std::uint32_t none = 0xffffffff;
  if (!text.starts_with(key)) return bad_word("part of a case", text, "stream=KIND[,seed=N]");
  const auto words = split(text.substr(key.size()), ',');
  const auto kind = stream_kind_of(words.front());
  if (!kind) return kind.error();
  Stream stream{.kind = *kind};
  std::uint32_t until = none;
  const std::vector<Field> fields = {{"seed", &stream.seed, 0xffffffffU},
                                     {"planted", &stream.planted, 1U << 20U},
                                     {"until", &until, 1U << 20U}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto set = set_field(words[i], fields); !set) return set.error();
  }
  if (until != none) stream.until = static_cast<std::int32_t>(until);
  return stream;
}

Result<std::int64_t> parse_signed(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto count = parse_count(text.substr(negative ? 1 : 0), "a call's number", 0, 1ULL << 53U);
  if (!count) return count.error();
  const auto value = static_cast<std::int64_t>(*count);
  return negative ? -value : value;
}

Result<Call> parse_amount(Call call, std::string_view rest) {
  if (call.kind == Call::Kind::feed) {
    const std::size_t v = rest.find('v');
    if (v != std::string_view::npos) {
      const auto variant = parse_count(rest.substr(v + 1), "a variant", 0, 1000);
      if (!variant) return variant.error();
      call.variant = static_cast<std::int32_t>(*variant);
      rest = rest.substr(0, v);
    }
    const auto count = parse_count(rest, "tokens to feed", 0, 1U << 20U);
    if (!count) return count.error();
    call.amount = static_cast<std::int64_t>(*count);
    return call;
  }
  if (call.kind == Call::Kind::reorder) {
    for (const std::string_view piece : split(rest, '.')) {
      const auto from = parse_count(piece, "a sequence", 0, 63);
      if (!from) return from.error();
      call.from.push_back(static_cast<std::uint32_t>(*from));
    }
    return call;
  }
  const auto amount = parse_signed(rest);
  if (!amount) return amount.error();
  call.amount = *amount;
  return call;
}

Result<Call> parse_call(std::string_view word) {
  Call call;
  std::string_view rest = word;
  if (rest.starts_with('b')) {
    const std::size_t colon = rest.find(':');
    const auto branch = parse_count(rest.substr(1, colon - 1), "a branch", 0, 63);
    if (!branch) return branch.error();
    if (colon == std::string_view::npos) return bad_word("call", word, "b<branch>:<call>");
    call.branch = static_cast<std::uint32_t>(*branch);
    rest = rest.substr(colon + 1);
  }
  const std::size_t letter = rest.empty() ? std::string_view::npos : letters.find(rest.front());
  if (letter == std::string_view::npos) {
    return bad_word("call", word, "f<n>, k, t<n>, r, o<i.j>, d<n> or s");
  }
  call.kind = static_cast<Call::Kind>(letter);
  rest = rest.substr(1);
  if (has_amount(call.kind) || call.kind == Call::Kind::reorder) return parse_amount(call, rest);
  if (!rest.empty()) return bad_word("call", word, "nothing after its letter");
  return call;
}

}  // namespace

std::string call_text(const Call& call) {
  std::string text = call.branch == 0 ? "" : "b" + std::to_string(call.branch) + ":";
  text += letters[static_cast<std::size_t>(call.kind)];
  for (std::size_t i = 0; i < call.from.size(); ++i) {
    text += (i == 0 ? "" : ".") + std::to_string(call.from[i]);
  }
  if (has_amount(call.kind)) text += std::to_string(call.amount);
  return text + (call.variant == 0 ? "" : "v" + std::to_string(call.variant));
}

std::uint64_t Case::tokens() const {
  std::uint64_t sum = 0;
  for (const Call& call : calls) {
    if (call.kind == Call::Kind::feed) sum += static_cast<std::uint64_t>(call.amount);
  }
  return sum;
}

std::string Case::text() const {
  std::string words = setup_text(setup) + ";stream=" + stream_text(stream) + ";calls=";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    words += (i == 0 ? "" : ",") + call_text(calls[i]);
  }
  return words;
}

Result<Case> parse_case(std::string_view text) {
  const auto parts = split(text, ';');
  constexpr std::string_view calls_key = "calls=";
  if (parts.size() != 3 || !parts[2].starts_with(calls_key)) {
    return bad_word("case", text, "SETUP;stream=KIND;calls=CALL,...");
  }
  const auto setup = parse_setup(parts[0]);
  if (!setup) return setup.error();
  const auto stream = parse_stream(parts[1]);
  if (!stream) return stream.error();
  Case result{*setup, *stream, {}};
  const std::string_view calls = parts[2].substr(calls_key.size());
  if (calls.empty()) return result;
  for (const std::string_view word : split(calls, ',')) {
    const auto call = parse_call(word);
    if (!call) return call.error();
    result.calls.push_back(*call);
  }
  return result;
}

Case feeding(const Setup& setup, const Stream& stream, const std::vector<std::uint32_t>& chunks) {
  Case result{setup, stream, {}};
  for (const std::uint32_t chunk : chunks) {
    result.calls.push_back({.kind = Call::Kind::feed, .amount = chunk});
  }
  return result;
}

Case one_by_one(const Setup& setup, const Stream& stream, std::uint64_t tokens) {
  return feeding(setup, stream, std::vector<std::uint32_t>(tokens, 1));
}

}  // namespace kv::properties
