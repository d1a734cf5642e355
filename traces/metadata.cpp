#include "kvcheck/traces/metadata.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/metadata_reader.h"

namespace kv {
namespace {

using Entries = MetadataReader::Entries;

constexpr std::string_view format_name = "kvcheck-trace";
constexpr std::array<std::string_view, 2> versions{"1", "2"};
constexpr std::array<std::string_view, 2> kind_names{"attention", "qkv"};
constexpr std::array<std::string_view, 3> layout_names{"none", "interleaved", "half"};

constexpr std::array<std::string_view, 2> no_yes{"no", "yes"};
constexpr std::uint64_t most_tokens = std::numeric_limits<std::int32_t>::max();

// What only version 2 has, of traces of vectors.
constexpr std::array<const char*, 5> entries_of_vectors{"rope_scale", "attention_scale", "soft_cap",
                                                        "window", "rope_applied"};

void read_base(MetadataReader& reader, bool needs_theta, Rope& rope) {
  for (const char* name : {"rope_theta", "rope_dims"}) {
    if (reader.has(name) || (name == std::string_view("rope_theta") && !needs_theta)) continue;
    reader.keep(std::string("__metadata__ has no '") + name + "'; expected with rope_layout");
  }
  rope.theta = reader.positive("rope_theta", needs_theta ? rope.theta : 0);
  rope.dims = reader.count("rope_dims", largest_dimension);
  if (rope.dims % 2 != 0) {
    reader.keep("__metadata__: rope_dims is " + std::to_string(rope.dims) +
                "; expected an even number, because dimensions are rotated in pairs");
  }
}

Rope read_rope(MetadataReader& reader) {
  Rope rope;
  rope.layout = static_cast<RopeLayout>(reader.word("rope_layout", layout_names));
  if (rope.layout != RopeLayout::none) read_base(reader, true, rope);
  return rope;
}

bool yes(MetadataReader& reader, const std::string& name) {
  return reader.has(name) && reader.word(name, no_yes) == 1;
}

std::string list_text(std::span<const std::size_t> numbers) {
  std::vector<std::string> words;
  for (const std::size_t number : numbers) words.push_back(std::to_string(number));
  return join(words, ",");
}

// Which queries and kv-heads a file of version 2 records.
void read_sample(MetadataReader& reader, TraceInfo& info) {
  if (reader.has("query_design")) {
    auto design = parse_query_design(reader.text("query_design", ""));
    if (!design) return reader.keep("__metadata__: query_design: " + design.error().message);
    info.query_design = *std::move(design);
  }
  if (!reader.has("kv_head_numbers")) return;
  for (const std::string_view word : split(reader.text("kv_head_numbers", ""), ',')) {
    const auto number = parse_count(word, "kv_head_numbers", 0, largest_dimension);
    if (!number) return reader.keep("__metadata__: " + number.error().message);
    info.kv_head_numbers.push_back(static_cast<std::size_t>(*number));
  }
}

// The layouts of version 2, where layers may rotate or not, but not in two ways.
std::vector<std::size_t> read_layouts(MetadataReader& reader, Rope& rope) {
  if (!reader.has("rope_layout")) reader.keep("__metadata__ has no 'rope_layout'");
  const std::vector<std::size_t> layouts = reader.words("rope_layout", layout_names, 0);
  for (const std::size_t index : layouts) {
    const auto layout = static_cast<RopeLayout>(index);
    if (layout == RopeLayout::none) continue;
    if (rope.layout != RopeLayout::none && rope.layout != layout) {
      reader.keep("__metadata__: rope_layout names interleaved and half; expected one of them");
    }
    rope.layout = layout;
  }
  if (rope.layout != RopeLayout::none) read_base(reader, false, rope);
  return layouts;
}

// The value of a layer: a single value stands for all.
template <typename T>
T value_at(const std::vector<T>& values, std::size_t layer) {
  return values[values.size() == 1 ? 0 : layer];
}

void read_rules(MetadataReader& reader, TraceInfo& info) {
  const auto layouts = read_layouts(reader, info.rope);
  const auto rope_scales = reader.positives("rope_scale", 1, false);
  const auto scales = reader.positives("attention_scale", 0, true);
  const auto caps = reader.positives("soft_cap", 0, true);
  const auto windows = reader.counts("window", most_tokens);
  info.rope_applied = yes(reader, "rope_applied");
  if (info.rope_applied && info.rope.layout == RopeLayout::none) {
    reader.keep(
        "__metadata__: rope_applied is 'yes', but no layer rotates; expected rope_layout "
        "to say how q and k were rotated");
  }
  if (!reader.problem().empty()) return;
  for (std::size_t layer = 0; layer < reader.list_size(); ++layer) {
    info.rules.push_back({.layout = static_cast<RopeLayout>(value_at(layouts, layer)),
                          .rope_scale = value_at(rope_scales, layer),
                          .scale = value_at(scales, layer),
                          .cap = value_at(caps, layer),
                          .window = value_at(windows, layer)});
  }
}

void read_version_2(MetadataReader& reader, TraceInfo& info) {
  info.model_layers = reader.count("model_layers", largest_dimension);
  read_sample(reader, info);
  if (info.kind == TraceKind::qkv) {
    if (reader.has("learned_sinks")) {
      reader.keep(
          "__metadata__ has 'learned_sinks' in a trace of kind qkv; expected tensors "
          "'layers.N.sinks'");
    }
    return read_rules(reader, info);
  }
  for (const char* const name : entries_of_vectors) {
    if (!reader.has(name)) continue;
    reader.keep(std::string("__metadata__ has '") + name +
                "' in a trace of kind attention; expected it with kind qkv only");
  }
  info.learned_sinks = yes(reader, "learned_sinks");
  if (reader.has("rope_layout")) info.rope = read_rope(reader);
}

// The texts, sizes and marks, which both versions have.
void read_common(MetadataReader& reader, TraceMetadata& result) {
  TraceInfo& info = result.info;
  info.kind = reader.word("kind", kind_names) == 0 ? TraceKind::attention : TraceKind::qkv;
  info.loop = reader.text("loop", info.loop);
  if (info.loop != "open" && policy_recorded(info).empty()) {
    reader.keep("__metadata__: loop is " + shown(info.loop) + "; expected 'open', or 'closed: ' " +
                "and the spec that was recorded under");
  }
  info.model = reader.text("model", "");
  info.source = reader.text("source", "");
  info.licence = reader.text("licence", "");
  result.layer_count = reader.count("layers", largest_dimension);
  info.query_heads = reader.count("query_heads", largest_dimension);
  info.kv_heads = reader.count("kv_heads", largest_dimension);
  info.head_dim = reader.count("head_dim", largest_dimension);
  info.marks.prompt = reader.count("prompt_tokens", most_tokens);
  info.marks.question = reader.count("question_tokens", most_tokens);
  if (info.marks.question > 0 && !info.marks.known()) {
    reader.keep("__metadata__ has question_tokens; expected prompt_tokens too");
  }
  info.trained_context = reader.count("trained_context", most_tokens);
}

// One value if all layers have the same, else one per layer.
template <typename T, typename Text>
std::string values_text(const std::vector<LayerRules>& rules, T LayerRules::*field, Text text) {
  std::vector<std::string> words;
  for (const LayerRules& one : rules) words.push_back(text(one.*field));
  if (std::ranges::count(words, words.front()) == std::ssize(words)) words.resize(1);
  return join(words, ",");
}

std::string layout_text(RopeLayout layout) {
  return std::string(layout_names[static_cast<std::size_t>(layout)]);
}

std::string number_or_none(double value) {
  return value == 0 ? "none" : shortest(value);
}

// What only version 2 says. Entries that have their defaults everywhere are left out.
template <typename Add>
void add_rules(const TraceInfo& info, const Add& add) {
  if (info.model_layers > 0) add("model_layers", std::to_string(info.model_layers));
  if (info.rope_applied) add("rope_applied", no_yes[1]);
  if (info.learned_sinks) add("learned_sinks", no_yes[1]);
  const auto add_field = [&](std::string_view name, auto LayerRules::*field, const auto& text) {
    const auto set = [&](const LayerRules& rules) { return rules.*field != LayerRules{}.*field; };
    if (std::ranges::any_of(info.rules, set)) add(name, values_text(info.rules, field, text));
  };
  add_field("rope_scale", &LayerRules::rope_scale, shortest);
  add_field("soft_cap", &LayerRules::cap, number_or_none);
  add_field("window", &LayerRules::window,
            [](std::size_t n) { return n == 0 ? std::string("none") : std::to_string(n); });
  add_field("attention_scale", &LayerRules::scale, number_or_none);
}

}  // namespace

Result<TraceMetadata> read_trace_metadata(const Entries& metadata) {
  MetadataReader reader(metadata);
  const std::string format = reader.text("format", "");
  if (format != format_name) {
    return malformed("__metadata__ has format " + shown(format) +
                     "; expected 'kvcheck-trace' (a safetensors file, but not a trace)");
  }
  const std::string version = reader.text("version", "");
  if (std::ranges::find(versions, version) == versions.end()) {
    return Error{Error::Kind::unsupported,
                 "__metadata__ has version " + shown(version) + "; this kvcheck reads '1' and '2'"};
  }
  TraceMetadata result;
  result.version = version == versions[0] ? 1 : 2;
  TraceInfo& info = result.info;
  read_common(reader, result);
  if (result.version == 2) {
    read_version_2(reader, info);
  } else if (info.kind == TraceKind::qkv || reader.has("rope_layout")) {
    // An attention trace is replayed without rotating anything, so it may leave the rotation out.
    info.rope = read_rope(reader);
  }
  result.listed = reader.listed();
  if (!reader.problem().empty()) return malformed(reader.problem());
  return result;
}

bool needs_version_2(const TraceInfo& info) {
  const LayerRules plain{.layout = info.rope.layout};
  const auto special = [&](const LayerRules& rules) { return rules != plain; };
  return info.model_layers > 0 || info.rope_applied || info.learned_sinks ||
         !info.queries.empty() || !info.kv_head_numbers.empty() ||
         std::ranges::any_of(info.rules, special);
}

std::vector<std::pair<std::string, std::string>> trace_metadata(const TraceInfo& info) {
  std::vector<std::pair<std::string, std::string>> entries;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) entries.emplace_back(name, value);
  };
  const auto add_count = [&](std::string_view name, std::size_t count) {
    if (count > 0) add(name, std::to_string(count));
  };
  add("format", format_name);
  add("version", versions[needs_version_2(info) ? 1 : 0]);
  add("kind", kind_names[info.kind == TraceKind::attention ? 0 : 1]);
  add("loop", info.loop);
  add("model", info.model);
  add("source", info.source);
  add("licence", info.licence);
  add_count("layers", info.layers.size());
  add_count("query_heads", info.query_heads);
  add_count("kv_heads", info.kv_heads);
  add_count("head_dim", info.head_dim);
  add_count("trained_context", info.trained_context);
  add_count("prompt_tokens", info.marks.prompt);
  add_count("question_tokens", info.marks.question);
  if (info.query_design) add("query_design", text_of(*info.query_design));
  if (!info.kv_head_numbers.empty()) add("kv_head_numbers", list_text(info.kv_head_numbers));
  add("rope_layout", info.rules.empty()
                         ? layout_text(info.rope.layout)
                         : values_text(info.rules, &LayerRules::layout, layout_text));
  if (info.rope.layout != RopeLayout::none) {
    if (info.rope.theta > 0) add("rope_theta", shortest(info.rope.theta));
    add_count("rope_dims", info.rope.dims);
  }
  add_rules(info, add);
  return entries;
}

}  // namespace kv
