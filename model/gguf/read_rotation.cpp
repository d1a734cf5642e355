#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/gguf/configuration_source.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using Source = ConfigurationSource;

// A tensor of factors, one for each pair that rotates.
std::vector<double> factors(Source& source, std::string_view name, std::uint64_t pairs) {
  const GgufTensor& tensor = source.gguf.tensors.find(name)->second;
  if (tensor.shape != std::vector<std::size_t>{pairs} || tensor.type != "F32") {
    source.reader.keep("has tensor " + shown(name) + " of type " + std::string(tensor.type) +
                       " and shape " + shown_shape(tensor.shape) + "; expected F32 and [" +
                       std::to_string(pairs) + "], one factor for each pair that rotates");
    return {};
  }
  std::vector<float> values(pairs);
  kernels().widen(Number::f32, tensor.data.data(), values.size(), values.data());
  if (!std::ranges::all_of(values, [](float one) { return one > 0 && std::isfinite(one); })) {
    source.reader.keep("has a factor in tensor " + shown(name) + " that is not positive");
    return {};
  }
  return {values.begin(), values.end()};
}

// Without the entry it is the context itself.
void copy_first_context(Source& source, json::object& into) {
  const auto first = source.reader.count(source.key("rope.scaling.original_context_length"));
  if (first) into["original_max_position_embeddings"] = static_cast<std::int64_t>(*first);
}

json::object yarn(Source& source, double factor) {
  MetadataReader& reader = source.reader;
  json::object made = {{"rope_type", "yarn"}, {"factor", factor}};
  copy_first_context(source, made);
  made["beta_fast"] = reader.number(source.key("rope.scaling.yarn_beta_fast")).value_or(32);
  made["beta_slow"] = reader.number(source.key("rope.scaling.yarn_beta_slow")).value_or(1);
  for (const char* name : {"attn_factor", "yarn_attn_factor", "yarn_ext_factor"}) {
    reader.require_number(source.key(std::string("rope.scaling.") + name), 1);
  }
  return made;
}

json::object longrope(Source& source, std::uint64_t pairs) {
  MetadataReader& reader = source.reader;
  json::object made = {{"rope_type", "longrope"}};
  copy_first_context(source, made);
  reader.require_number(source.key("rope.scaling.factor"), 1);
  made["attention_factor"] = reader.number(source.key("rope.scaling.attn_factor")).value_or(1);
  for (const std::string length : {"short", "long"}) {
    const std::string tensor = "rope_factors_" + length + ".weight";
    if (!source.gguf.tensors.contains(tensor)) {
      reader.keep("has no tensor " + shown(tensor) + "; expected the factors of its longrope");
      return made;
    }
    json::array list;
    for (const double factor : factors(source, tensor, pairs)) list.emplace_back(factor);
    made[length + "_factor"] = std::move(list);
  }
  return made;
}

void read_scaling(Source& source, std::uint64_t pairs) {
  MetadataReader& reader = source.reader;
  constexpr std::array<std::string_view, 4> words = {"none", "linear", "yarn", "longrope"};
  const auto& tensors = source.gguf.tensors;
  // Files of 2023 name the factor of a linear scaling alone, and by another name.
  const double older = reader.number(source.key("rope.scale_linear")).value_or(1);
  const double factor = reader.number(source.key("rope.scaling.factor")).value_or(older);
  const std::string usual = tensors.contains("rope_factors_long.weight") ? "longrope" : "linear";
  const std::string kind = reader.text(source.key("rope.scaling.type")).value_or(usual);
  reader.ignore(source.key("rope.scaling.finetuned"));
  if (std::ranges::find(words, kind) == words.end()) {
    reader.keep("has " + shown(source.key("rope.scaling.type")) + " of an " +
                unknown_word("type of rotation", kind, words));
  }
  json::object made;
  if (kind == "linear" && factor != 1) made = {{"rope_type", "linear"}, {"factor", factor}};
  if (kind == "yarn") made = yarn(source, factor);
  if (kind == "longrope") made = longrope(source, pairs);
  for (const char* name : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
    if (kind == "longrope" || !tensors.contains(name)) continue;
    reader.keep("has a tensor " + shown(name) + " beside " +
                shown(source.key("rope.scaling.type")) + " = " + shown(kind) +
                "; expected 'longrope', or no such tensor");
  }
  if (kind == "none" || kind == "linear") {
    reader.ignore(source.key("rope.scaling.original_context_length"));
  }
  if (tensors.contains("rope_freqs.weight")) {
    source.made.frequency_divisors = factors(source, "rope_freqs.weight", pairs);
    if (!made.empty()) {
      reader.keep("has 'rope_freqs.weight' beside " + shown(source.key("rope.scaling.type")) +
                  "; expected one of the two");
    }
  }
  if (made.empty()) return;
  source.made.entries["rope_scaling"] = std::move(made);
  constexpr std::array<std::array<std::string_view, 2>, 5> names = {
      {{"factor", "factor"},
       {"original_max_position_embeddings", "original_context_length"},
       {"attention_factor", "attn_factor"},
       {"beta_fast", "yarn_beta_fast"},
       {"beta_slow", "yarn_beta_slow"}}};
  for (const auto& [entry, key] : names) {
    source.made.keys["rope_scaling." + std::string(entry)] =
        source.key("rope.scaling." + std::string(key));
  }
}

}  // namespace

void read_gguf_rotation(ConfigurationSource& source, bool partial) {
  MetadataReader& reader = source.reader;
  const std::string name = source.key("rope.dimension_count");
  const std::uint64_t dims = reader.count(name).value_or(source.head_dim);
  if (dims > source.head_dim || (!partial && dims != source.head_dim)) {
    reader.keep("has " + shown(name) + " = " + std::to_string(dims) + "; expected " +
                (partial ? "at most " : "") + std::to_string(source.head_dim) +
                ", the length of a head");
    return;
  }
  // A share is multiplied by the length again and rounded down.
  if (partial && source.head_dim > 0) {
    const double share = (static_cast<double>(dims) + 0.5) / static_cast<double>(source.head_dim);
    source.set("partial_rotary_factor", std::min(1.0, share), "rope.dimension_count");
  }
  source.set("rope_theta", reader.number(source.key("rope.freq_base")).value_or(10000),
             "rope.freq_base");
  read_scaling(source, dims / 2);
}

}  // namespace kv::model
