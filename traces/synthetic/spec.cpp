#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/synthetic/rows.h"

namespace kv {
namespace {

constexpr std::array<SyntheticField, 9> fields{{
    {"tokens", "1024", "1 to 65536", "tokens of the stream"},
    {"layers", "1", "1 to 1024", "layers, each with plants of its own"},
    {"heads", "4", "1 to 1024", "query heads of a layer"},
    {"kv_heads", "heads", "a divisor of heads", "key/value heads, each with plants of its own"},
    {"head_dim", "32", "16 to 1024", "numbers of a query, key or value"},
    {"seed", "1", "0 to 2^64 - 1", "the seed of everything drawn"},
    {"kind", "attention", "attention, qkv", "rows, or queries, keys and values"},
    {"dtype", "f32", "f32, f16", "how numbers are stored; f16 for attention only"},
    {"rope", "none", "none, half, interleaved", "how the noise dimensions rotate"},
}};

constexpr std::array<std::string_view, 2> kinds{"attention", "qkv"};
constexpr std::array<std::string_view, 2> dtypes{"f32", "f16"};
constexpr std::array<std::string_view, 3> layouts{"none", "interleaved", "half"};

// The index of `word` among `words`.
Result<std::size_t> select(std::string_view what,
                           std::string_view word,
                           std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return usage_error(unknown_word(what, word, words));
  return static_cast<std::size_t>(found - words.begin());
}

Result<void> set_size(std::string_view name,
                      std::string_view text,
                      std::uint64_t minimum,
                      std::uint64_t maximum,
                      std::size_t& size) {
  const auto value = parse_count(text, name, minimum, maximum);
  if (!value) return value.error();
  size = static_cast<std::size_t>(*value);
  return {};
}

Result<void> set_word(std::string_view name, std::string_view text, SyntheticSpec& spec) {
  const std::span<const std::string_view> words = name == "kind" ? std::span(kinds)
                                                  : name == "dtype"
                                                      ? std::span(dtypes)
                                                      : std::span<const std::string_view>(layouts);
  const auto index = select(name, text, words);
  if (!index) return index.error();
  if (name == "kind") spec.kind = *index == 0 ? TraceKind::attention : TraceKind::qkv;
  if (name == "dtype") spec.number = *index == 0 ? Number::f32 : Number::f16;
  if (name == "rope") spec.rope = static_cast<RopeLayout>(*index);
  return {};
}

Result<void> set_common(std::string_view name, std::string_view text, SyntheticSpec& spec) {
  if (name == "tokens") return set_size(name, text, 1, max_synthetic_tokens, spec.tokens);
  if (name == "layers") return set_size(name, text, 1, 1024, spec.layers);
  if (name == "heads") return set_size(name, text, 1, 1024, spec.heads);
  if (name == "kv_heads") return set_size(name, text, 1, 1024, spec.kv_heads);
  if (name == "head_dim") return set_size(name, text, 16, 1024, spec.head_dim);
  if (name != "seed") return set_word(name, text, spec);
  const auto seed = parse_count(text, name, 0, UINT64_MAX);
  if (!seed) return seed.error();
  spec.seed = *seed;
  return {};
}

Result<void> set_own(const SyntheticParameter& parameter, std::string_view text, double& to) {
  if (parameter.whole) {
    const auto value =
        parse_count(text, parameter.name, static_cast<std::uint64_t>(parameter.minimum),
                    static_cast<std::uint64_t>(parameter.maximum));
    if (!value) return value.error();
    to = static_cast<double>(*value);
    return {};
  }
  const auto value = parse_real(text, parameter.name, parameter.minimum, parameter.maximum);
  if (!value) return value.error();
  to = *value + 0.0;  // minus zero would print differently
  return {};
}

Result<void> set_field(std::string_view name, std::string_view text, SyntheticSpec& spec) {
  const auto own = spec.generator->parameters;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].name == name) return set_own(own[i], text, spec.values[i]);
  }
  std::vector<std::string_view> names;
  for (const SyntheticParameter& parameter : own) names.push_back(parameter.name);
  for (const SyntheticField& field : fields) names.push_back(field.name);
  if (std::ranges::find(names, name) == names.end()) {
    return usage_error(
        unknown_word("field of '" + std::string(spec.generator->name) + "'", name, names));
  }
  return set_common(name, text, spec);
}

Result<void> check(const SyntheticSpec& spec) {
  if (spec.heads % spec.kv_heads != 0) {
    return usage_error("kv_heads=" + std::to_string(spec.kv_heads) +
                       " does not divide heads=" + std::to_string(spec.heads));
  }
  if (spec.kind == TraceKind::qkv && spec.number == Number::f16) {
    return usage_error("dtype=f16 cannot hold what kind=qkv plants; expected dtype=f32");
  }
  const std::size_t dims = first_label_dim + label_bits(spec);
  if (spec.kind == TraceKind::qkv && spec.head_dim < dims) {
    return usage_error("head_dim=" + std::to_string(spec.head_dim) + " is too small for '" +
                       std::string(spec.generator->name) + "', which plants in " +
                       std::to_string(dims) + " dimensions");
  }
  if (spec.kind == TraceKind::qkv) {
    if (Result<void> fits = check_synthetic_bytes(spec); !fits) return fits;
  }
  return spec.generator->check(spec);
}

Result<const SyntheticEntry*> find_generator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SyntheticEntry& entry : synthetic_registry()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  // A frequent slip: a comma in the place of the ':'.
  if (const std::size_t comma = name.find(','); comma != std::string_view::npos) {
    if (std::ranges::find(names, name.substr(0, comma)) != names.end()) {
      std::string meant(name);
      meant[comma] = ':';
      return usage_error(unknown_word("generator", name, names, meant));
    }
  }
  return usage_error(unknown_word("generator", name, names));
}

}  // namespace

std::span<const SyntheticField> synthetic_fields() {
  return fields;
}

double SyntheticSpec::at(std::string_view name) const {
  const auto found = std::ranges::find(generator->parameters, name, &SyntheticParameter::name);
  KV_CHECK(found != generator->parameters.end());
  return values.at(static_cast<std::size_t>(found - generator->parameters.begin()));
}

std::size_t SyntheticSpec::count(std::string_view name) const {
  return static_cast<std::size_t>(at(name));
}

std::string SyntheticSpec::canonical() const {
  std::string out = std::string(generator->name) + ":tokens=" + std::to_string(tokens) +
                    ",layers=" + std::to_string(layers) + ",heads=" + std::to_string(heads) +
                    ",kv_heads=" + std::to_string(kv_heads) +
                    ",head_dim=" + std::to_string(head_dim) + ",seed=" + std::to_string(seed) +
                    ",kind=" + std::string(kinds[static_cast<std::size_t>(kind)]) +
                    ",dtype=" + std::string(dtypes[number == Number::f32 ? 0 : 1]) +
                    ",rope=" + std::string(layouts[static_cast<std::size_t>(rope)]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SyntheticParameter& parameter = generator->parameters[i];
    out += "," + std::string(parameter.name) + "=";
    out += parameter.whole ? std::to_string(static_cast<std::uint64_t>(values[i]))
                           : shortest(values[i]);
  }
  return out;
}

std::uint64_t synthetic_bytes(const SyntheticSpec& spec) {
  // The ranges of the fields keep this below 2^56, so it cannot overflow.
  const std::uint64_t per_layer =
      spec.kind == TraceKind::attention
          ? spec.heads * spec.tokens * spec.tokens
          : (spec.heads + 2 * spec.kv_heads) * spec.tokens * spec.head_dim;
  return per_layer * spec.layers * (spec.number == Number::f32 ? 4 : 2);
}

std::uint64_t stream_bytes(const SyntheticSpec& spec) {
  return spec.kind == TraceKind::attention ? 0 : synthetic_bytes(spec);
}

Result<void> check_synthetic_bytes(const SyntheticSpec& spec) {
  if (synthetic_bytes(spec) <= max_synthetic_bytes) return {};
  return usage_error("the trace would have " + std::to_string(synthetic_bytes(spec)) +
                     " bytes; expected at most " + std::to_string(max_synthetic_bytes) +
                     " (take fewer tokens, heads or layers, or kind=qkv)");
}

Result<SyntheticSpec> parse_synthetic(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto entry = find_generator(text.substr(0, colon));
  if (!entry) return entry.error();
  SyntheticSpec spec;
  spec.generator = *entry;
  for (const SyntheticParameter& own : spec.generator->parameters) {
    spec.values.push_back(own.default_value);
  }

  std::vector<std::string_view> seen;
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  for (const std::string_view piece : split(rest, ',')) {
    if (rest.empty()) break;
    const std::size_t equals = piece.find('=');
    const std::string_view name = piece.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : piece.substr(equals + 1);
    if (const auto set = set_field(name, value, spec); !set) return set.error();
    if (std::ranges::find(seen, name) != seen.end()) {
      return usage_error("field '" + std::string(name) + "' is given twice");
    }
    seen.push_back(name);
  }
  if (std::ranges::find(seen, "kv_heads") == seen.end()) spec.kv_heads = spec.heads;
  if (const auto checked = check(spec); !checked) return checked.error();
  return spec;
}

}  // namespace kv
