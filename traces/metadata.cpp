#include "kvcheck/traces/metadata.h"

#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

using Entries = std::map<std::string, std::string>;

constexpr std::string_view format_name = "kvcheck-trace";
constexpr std::string_view format_version = "1";
constexpr std::array<std::string_view, 2> kind_names{"attention", "qkv"};
constexpr std::array<std::string_view, 3> layout_names{"none", "interleaved", "half"};

// Reads entries one by one and keeps the first error.
class Reader {
 public:
  explicit Reader(const Entries& entries) : entries_(entries) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] bool has(const std::string& name) const { return entries_.contains(name); }

  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? otherwise : at->second;
  }

  // The index of the value in `words`. A missing entry is an error.
  std::size_t word(const std::string& name, std::span<const std::string_view> words) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) {
      keep("__metadata__ has no '" + name + "'");
      return 0;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == at->second) return i;
    }
    keep("__metadata__: " + unknown_word(name, at->second, words));
    return 0;
  }

  std::size_t count(const std::string& name, std::uint64_t largest = largest_dimension) {
    if (!has(name)) return 0;
    const auto value = parse_count(entries_.at(name), name, 1, largest);
    if (!value) keep("__metadata__: " + value.error().message);
    return value ? static_cast<std::size_t>(*value) : 0;
  }

  double positive(const std::string& name, double otherwise) {
    if (!has(name)) return otherwise;
    const auto value = parse_real(entries_.at(name), name, std::numeric_limits<double>::min(),
                                  std::numeric_limits<double>::max());
    if (!value) keep("__metadata__: " + value.error().message);
    return value ? *value : otherwise;
  }

  void keep(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

 private:
  const Entries& entries_;
  std::string problem_;
};

Rope read_rope(Reader& reader) {
  Rope rope;
  rope.layout = static_cast<RopeLayout>(reader.word("rope_layout", layout_names));
  if (rope.layout == RopeLayout::none) return rope;
  for (const char* name : {"rope_theta", "rope_dims"}) {
    if (!reader.has(name)) {
      reader.keep(std::string("__metadata__ has no '") + name + "'; expected with rope_layout");
    }
  }
  rope.theta = reader.positive("rope_theta", rope.theta);
  rope.dims = reader.count("rope_dims");
  if (rope.dims % 2 != 0) {
    reader.keep("__metadata__: rope_dims is " + std::to_string(rope.dims) +
                "; expected an even number, because dimensions are rotated in pairs");
  }
  return rope;
}

}  // namespace

Result<TraceMetadata> read_trace_metadata(const Entries& metadata) {
  Reader reader(metadata);
  const std::string format = reader.text("format", "");
  if (format != format_name) {
    return malformed("__metadata__ has format " + shown(format) +
                     "; expected 'kvcheck-trace' (a safetensors file, but not a trace)");
  }
  const std::string version = reader.text("version", "");
  if (version != format_version) {
    return Error{Error::Kind::unsupported,
                 "__metadata__ has version " + shown(version) + "; this kvcheck reads '1'"};
  }
  TraceMetadata result;
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
  result.layer_count = reader.count("layers");
  info.query_heads = reader.count("query_heads");
  info.kv_heads = reader.count("kv_heads");
  info.head_dim = reader.count("head_dim");
  info.marks.prompt = reader.count("prompt_tokens", std::numeric_limits<std::int32_t>::max());
  info.marks.question = reader.count("question_tokens", std::numeric_limits<std::int32_t>::max());
  if (info.marks.question > 0 && !info.marks.known()) {
    reader.keep("__metadata__ has question_tokens; expected prompt_tokens too");
  }
  info.trained_context = reader.count("trained_context", std::numeric_limits<std::int32_t>::max());
  // An attention trace is replayed without rotating anything, so it may leave the rotation out.
  if (info.kind == TraceKind::qkv || reader.has("rope_layout")) info.rope = read_rope(reader);
  if (!reader.problem().empty()) return malformed(reader.problem());
  return result;
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
  add("version", format_version);
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
  add("rope_layout", layout_names[static_cast<std::size_t>(info.rope.layout)]);
  if (info.rope.layout != RopeLayout::none) {
    add("rope_theta", shortest(info.rope.theta));
    add_count("rope_dims", info.rope.dims);
  }
  return entries;
}

}  // namespace kv
