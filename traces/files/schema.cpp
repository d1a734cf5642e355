#include "kvcheck/traces/files/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/files/transcript.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

enum Part : std::size_t { attention, q, k, v, frequencies, sinks, slopes };

constexpr std::array<std::string_view, 7> part_names{"attention",   "q",     "k",     "v",
                                                     "frequencies", "sinks", "slopes"};
constexpr std::size_t number_parts = 4;  // the first, which hold what was recorded

// The tensors of one layer, by Part; null where missing.
using Parts = std::array<const SafetensorsTensor*, part_names.size()>;
using Layers = std::map<std::size_t, Parts>;

std::string layer_tensor(std::size_t layer, Part part) {
  return "'layers." + std::to_string(layer) + "." + std::string(part_names[part]) + "'";
}

// "layers.3.q" -> (3, q).
std::optional<std::pair<std::size_t, Part>> layer_and_part(std::string_view name) {
  constexpr std::string_view prefix = "layers.";
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::size_t layer = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), layer);
  const auto digits = static_cast<std::size_t>(end - name.data());
  // "00" is refused, because it would be a second name of layer 0.
  if (status != std::errc() || digits != std::to_string(layer).size()) return {};
  if (layer > largest_dimension) return {};
  name.remove_prefix(digits);
  for (std::size_t part = 0; part < part_names.size(); ++part) {
    if (!name.starts_with('.') || name.substr(1) != part_names[part]) continue;
    return {{layer, static_cast<Part>(part)}};
  }
  return {};
}

// Whether a trace of that kind and version may have such a tensor.
bool belongs(Part part, TraceKind kind, int version) {
  if (part >= number_parts && version == 1) return false;
  return (part == attention) == (kind == TraceKind::attention);
}

// Groups the tensors by layer. An unknown name is an error: ignoring a misspelt one would lose its
// numbers without a message.
Result<Layers> sort_tensors(const Safetensors& file, const TraceMetadata& metadata) {
  const TraceKind kind = metadata.info.kind;
  Layers layers;
  for (const SafetensorsTensor& tensor : file.tensors) {
    if (is_transcript_tensor(tensor.name)) continue;
    if (metadata.version > 1 && tensor.name == "queries") continue;
    const auto place = layer_and_part(tensor.name);
    if (!place || !belongs(place->second, kind, metadata.version)) {
      const std::string more =
          metadata.version == 1 ? "" : ", and .frequencies, .sinks and .slopes,";
      return malformed("unexpected tensor " + shown(tensor.name) +
                       "; expected tokens, text, text_ends, nll and " +
                       (kind == TraceKind::attention
                            ? "layers.N.attention in a trace of kind attention"
                            : "layers.N.q, .k and .v" + more + " in a trace of kind qkv"));
    }
    layers[place->first][place->second] = &tensor;
  }
  for (const auto& [number, parts] : layers) {
    if (kind == TraceKind::attention) continue;
    for (const Part part : {q, k, v}) {
      if (parts[part] != nullptr) continue;
      return malformed("tensor " + layer_tensor(number, part) +
                       " is missing; expected q, k and v of each recorded layer");
    }
  }
  if (layers.empty())
    return malformed("there is no tensor of a layer; expected at least one layer");
  return layers;
}

// Takes sizes that the metadata leaves out from the first layer. view_of() compares every layer
// with the result.
Result<void> complete_sizes(TraceInfo& info, const Parts& first, bool some_queries) {
  const bool rows = info.kind == TraceKind::attention;
  const SafetensorsTensor& queries = *first[rows ? attention : q];
  for (const SafetensorsTensor* tensor : std::span(first).first(number_parts)) {
    if (tensor == nullptr || tensor->shape.size() == 3) continue;
    return malformed("tensor " + shown(tensor->name) + " has shape " + shown_shape(tensor->shape) +
                     "; expected " + (rows ? "[heads, queries, keys]" : "[heads, tokens, dims]"));
  }
  // Of a trace of some queries, only keys tell how many tokens there are.
  info.tokens = queries.shape[1];
  if (some_queries) info.tokens = rows ? queries.shape[2] : first[k]->shape[1];
  if (info.query_heads == 0) info.query_heads = queries.shape[0];
  if (info.kv_heads == 0) info.kv_heads = rows ? info.query_heads : first[k]->shape[0];
  if (info.head_dim == 0 && !rows) info.head_dim = queries.shape[2];
  return {};
}

Result<void> check_sizes(const TraceInfo& info) {
  const auto bad = [](std::string_view what, std::size_t found, const std::string& expected) {
    return malformed("the trace has " + std::to_string(found) + " " + std::string(what) +
                     "; expected " + expected);
  };
  const std::string dimension = "1 to " + std::to_string(largest_dimension);
  constexpr auto most_tokens = std::size_t{std::numeric_limits<std::int32_t>::max()};
  if (info.tokens == 0 || info.tokens > most_tokens) {
    return bad("tokens", info.tokens, "1 to " + std::to_string(most_tokens));
  }
  if (info.marks.prompt + info.marks.question > info.tokens) {
    return malformed("__metadata__: prompt_tokens is " + std::to_string(info.marks.prompt) +
                     " and question_tokens " + std::to_string(info.marks.question) +
                     "; expected at most the " + std::to_string(info.tokens) +
                     " tokens of the trace together");
  }
  if (info.query_heads == 0 || info.query_heads > largest_dimension) {
    return bad("query heads", info.query_heads, dimension);
  }
  if (info.kv_heads == 0 || info.query_heads % info.kv_heads != 0) {
    return bad("kv-heads", info.kv_heads,
               "a divisor of the " + std::to_string(info.query_heads) + " query heads");
  }
  if (info.kind == TraceKind::qkv && (info.head_dim == 0 || info.head_dim > largest_dimension)) {
    return bad("dimensions per head", info.head_dim, dimension);
  }
  if (!info.kv_head_numbers.empty()) {
    const auto& numbers = info.kv_head_numbers;
    const bool increase = std::ranges::is_sorted(numbers, std::less_equal{});
    if (!increase || numbers.size() != info.kv_heads || numbers.back() >= largest_dimension) {
      return malformed("__metadata__: kv_head_numbers has " + shown_shape(numbers) + "; expected " +
                       std::to_string(info.kv_heads) +
                       " numbers below 65535, increasing, one for each recorded kv-head");
    }
  }
  if (info.head_dim > 0 && info.rope.dims > info.head_dim) {
    return bad("rope_dims", info.rope.dims, "at most head_dim, " + std::to_string(info.head_dim));
  }
  return {};
}

std::optional<Number> number_of(Dtype dtype) {
  if (dtype == Dtype::f32) return Number::f32;
  if (dtype == Dtype::f16) return Number::f16;
  if (dtype == Dtype::bf16) return Number::bf16;
  return {};
}

// The tensor as a view. An error unless it has the type and shape that all its peers have.
Result<TensorView> view_of(const SafetensorsTensor& tensor,
                           Dtype dtype,
                           const std::vector<std::size_t>& shape) {
  const std::string name = "tensor " + shown(tensor.name);
  const std::optional<Number> number = number_of(tensor.dtype);
  if (!number) {
    return malformed(name + " is " + std::string(dtype_name(tensor.dtype)) +
                     "; expected F16, BF16 or F32");
  }
  if (tensor.dtype != dtype) {
    return malformed(name + " is " + std::string(dtype_name(tensor.dtype)) + "; expected " +
                     std::string(dtype_name(dtype)) + ", as in the first recorded layer");
  }
  if (tensor.shape != shape) {
    return malformed(name + " has shape " + shown_shape(tensor.shape) + "; expected " +
                     shown_shape(shape));
  }
  return TensorView{*number, shape, tensor.data.data()};
}

Result<Trace::Layer> view_layer(const TraceInfo& info, const Parts& parts, Dtype dtype) {
  const std::size_t rows = recorded_queries(info);
  const std::vector<std::size_t> square{info.query_heads, rows, info.tokens};
  const std::vector<std::size_t> queries{info.query_heads, rows, info.head_dim};
  const std::vector<std::size_t> keys{info.kv_heads, info.tokens, info.head_dim};
  Trace::Layer layer;
  const std::array views{&layer.attention, &layer.q, &layer.k, &layer.v};
  const std::array shapes{&square, &queries, &keys, &keys};
  for (std::size_t part = 0; part < number_parts; ++part) {
    if (parts[part] == nullptr) continue;
    Result<TensorView> view = view_of(*parts[part], dtype, *shapes[part]);
    if (!view) return view.error();
    *views[part] = std::move(*view);
  }
  return layer;
}

// What the layers do: the metadata, and the tensors beside those of the numbers.
Result<void> read_rules(const Layers& layers, TraceMetadata& metadata) {
  if (auto spread = spread_rules(metadata, layers.size()); !spread) return spread;
  if (metadata.info.rules.empty()) return {};
  auto rules = metadata.info.rules.begin();
  for (const auto& [number, parts] : layers) {
    auto read = read_layer_tables(parts[frequencies], parts[sinks], parts[slopes], *rules++);
    if (!read) return read;
  }
  return {};
}

}  // namespace

Result<Trace> read_schema(const Safetensors& file, TraceOrigin origin) {
  Result<TraceMetadata> metadata = read_trace_metadata(file.metadata);
  if (!metadata) return metadata.error();
  const Result<Layers> parts = sort_tensors(file, *metadata);
  if (!parts) return parts.error();
  if (metadata->layer_count != 0 && metadata->layer_count != parts->size()) {
    return malformed("__metadata__: layers is " + std::to_string(metadata->layer_count) +
                     ", but the tensors are those of " + std::to_string(parts->size()));
  }
  if (auto read = read_rules(*parts, *metadata); !read) return read.error();
  TraceInfo info = std::move(metadata->info);
  const Parts& first = parts->begin()->second;
  const SafetensorsTensor* queries = metadata->version > 1 ? file.find("queries") : nullptr;
  if (auto sizes = complete_sizes(info, first, queries != nullptr); !sizes) return sizes.error();
  if (auto sizes = check_sizes(info); !sizes) return sizes.error();

  if (auto read = read_queries(queries, info); !read) return read.error();

  const Dtype dtype = first[info.kind == TraceKind::attention ? attention : q]->dtype;
  std::vector<Trace::Layer> layers;
  for (const auto& [number, tensors] : *parts) {
    Result<Trace::Layer> layer = view_layer(info, tensors, dtype);
    if (!layer) return layer.error();
    layers.push_back(std::move(*layer));
    info.layers.push_back(number);
  }
  if (auto right = finish_rules(info); !right) return right.error();
  Result<TranscriptTensors> beside = read_transcript(file, info.tokens);
  if (!beside) return beside.error();
  auto [token_ids, transcript] = std::move(beside).value();
  info.number = *number_of(dtype);
  info.name = std::move(origin.name);
  return Trace(std::move(info), std::move(layers), std::move(token_ids), std::move(origin.file),
               std::move(transcript));
}

}  // namespace kv
