#include "kvcheck/model/gguf/configuration.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <cmath>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/gguf/configuration_source.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using Source = ConfigurationSource;

void no_more(Source& /*source*/) {}

void read_window(Source& source) {
  const auto window = source.reader.count(source.key("attention.sliding_window"));
  if (window && *window > 0) source.set("sliding_window", *window, "attention.sliding_window");
}

// Files of Mistral have the architecture of Llama and, if at all, a window.
void read_llama(Source& source) {
  const auto window = source.reader.count(source.key("attention.sliding_window"));
  if (!window || *window == 0) return;
  source.made.entries["model_type"] = "mistral";
  source.set("sliding_window", *window, "attention.sliding_window");
}

// The scale of attention is that of the head's length but for the largest model, which is known by
// its number of layers: there it is that of the width per head.
void read_gemma_scale(Source& source, std::uint64_t layers_of_largest) {
  if (source.heads == 0) return;
  const std::uint64_t scalar =
      source.layers == layers_of_largest ? source.width / source.heads : source.head_dim;
  source.set("query_pre_attn_scalar", scalar, "attention.key_length");
}

// The soft cap that is said, or that llama.cpp assumes if none is; 0 is none.
void read_cap(Source& source, std::string_view name, double otherwise) {
  const double cap = source.reader.number(source.key(name)).value_or(otherwise);
  if (cap > 0) {
    source.set(name, cap, name);
  } else {
    source.made.entries[name] = nullptr;
  }
}

void read_gemma2(Source& source) {
  read_gemma_scale(source, 46);
  read_cap(source, "attn_logit_softcapping", 50);
  read_cap(source, "final_logit_softcapping", 30);
  const auto window = source.reader.count(source.key("attention.sliding_window"));
  source.set("sliding_window", window.value_or(4096), "attention.sliding_window");
}

void read_gemma3(Source& source) {
  read_gemma_scale(source, 62);
  read_cap(source, "attn_logit_softcapping", 0);
  read_cap(source, "final_logit_softcapping", 0);
  MetadataReader& reader = source.reader;
  source.set("sliding_window", reader.needed_count(source.key("attention.sliding_window")),
             "attention.sliding_window");
  const auto pattern = reader.count(source.key("attention.sliding_window_pattern"));
  source.set("sliding_window_pattern", pattern.value_or(6), "attention.sliding_window_pattern");
  const auto base = reader.number(source.key("rope.freq_base_swa"));
  source.set("rope_local_base_freq", base.value_or(10000.0), "rope.freq_base_swa");
}

void read_granite(Source& source) {
  source.copy_number("embedding_scale", "embedding_multiplier");
  source.copy_number("residual_scale", "residual_multiplier");
  source.copy_number("logit_scale", "logits_scaling");
  const auto scale = source.reader.number(source.key("attention.scale"));
  const double usual =
      1 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(1, source.head_dim)));
  source.set("attention_multiplier", scale && *scale != 0 ? *scale : usual, "attention.scale");
}

// Without the entry a layer whose MLP has no norm of its own shares the norm of attention.
void read_parallel(Source& source) {
  const auto parallel = source.reader.flag(source.key("use_parallel_residual"));
  const bool shares = !source.gguf.tensors.contains("blk.0.ffn_norm.weight");
  source.made.entries["use_parallel_residual"] = parallel.value_or(shares);
}

void read_gpt_neox(Source& source) {
  const auto parallel = source.reader.flag(source.key("use_parallel_residual"));
  source.made.entries["use_parallel_residual"] = parallel.value_or(true);
}

void read_stablelm(Source& source) {
  read_parallel(source);
  source.made.entries["use_qkv_bias"] = source.gguf.tensors.contains("blk.0.attn_q.bias");
}

struct GgufFamily {
  std::string_view architecture;
  std::string_view model_type;
  bool interleaved;  // llama.cpp rotates pairs of neighbours ("NORM"), else halves ("NEOX")
  bool layer_norm;
  bool partial;  // not all of a head need rotate
  void (*rest)(Source&);
};

constexpr std::array<GgufFamily, 13> families = {{
    {"llama", "llama", true, false, false, read_llama},
    {"qwen2", "qwen2", false, false, false, no_more},
    {"qwen3", "qwen3", false, false, false, no_more},
    {"smollm3", "smollm3", true, false, false, no_more},
    {"gemma", "gemma", false, false, false, no_more},
    {"gemma2", "gemma2", false, false, false, read_gemma2},
    {"gemma3", "gemma3_text", false, false, false, read_gemma3},
    {"phi3", "phi3", false, false, true, read_window},
    {"olmo2", "olmo2", false, false, false, no_more},
    {"granite", "granite", true, false, false, read_granite},
    {"stablelm", "stablelm", false, true, true, read_stablelm},
    {"gptneox", "gpt_neox", false, true, true, read_gpt_neox},
    {"gpt2", "gpt2", false, true, false, no_more},
}};

bool is_gpt2(const GgufFamily& family) {
  return family.architecture == "gpt2";
}

void read_sizes(Source& source, const GgufFamily& family) {
  MetadataReader& reader = source.reader;
  const bool gpt2 = is_gpt2(family);
  source.width = reader.needed_count(source.key("embedding_length"));
  source.layers = reader.needed_count(source.key("block_count"));
  source.heads = reader.needed_count(source.key("attention.head_count"));
  source.set(gpt2 ? "n_embd" : "hidden_size", source.width, "embedding_length");
  source.set(gpt2 ? "n_layer" : "num_hidden_layers", source.layers, "block_count");
  source.set(gpt2 ? "n_head" : "num_attention_heads", source.heads, "attention.head_count");
  source.set(gpt2 ? "n_inner" : "intermediate_size",
             reader.needed_count(source.key("feed_forward_length")), "feed_forward_length");
  source.set(gpt2 ? "n_positions" : "max_position_embeddings",
             reader.needed_count(source.key("context_length")), "context_length");
  const std::uint64_t usual = source.heads > 0 ? source.width / source.heads : 0;
  source.head_dim = reader.count(source.key("attention.key_length")).value_or(usual);
  reader.require_count(source.key("attention.value_length"), source.head_dim);
  if (gpt2 || family.model_type == "gpt_neox") {
    // Their queries share no keys, and their heads divide the width.
    reader.require_count(source.key("attention.head_count_kv"), source.heads);
    reader.require_count(source.key("attention.key_length"), usual);
    return;
  }
  source.set("num_key_value_heads",
             reader.count(source.key("attention.head_count_kv")).value_or(source.heads),
             "attention.head_count_kv");
  source.set("head_dim", source.head_dim, "attention.key_length");
}

void read_epsilon(Source& source, const GgufFamily& family) {
  const std::string_view from =
      family.layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon";
  const double epsilon = source.reader.needed_number(source.key(from));
  source.set(is_gpt2(family)     ? "layer_norm_epsilon"
             : family.layer_norm ? "layer_norm_eps"
                                 : "rms_norm_eps",
             epsilon, from);
}

void read_token(Source& source,
                std::string_view name,
                std::uint64_t vocabulary,
                json::array& into) {
  const auto token = source.reader.count(name);
  if (!token) return;
  if (*token < vocabulary) {
    into.emplace_back(static_cast<std::int64_t>(*token));
    return;
  }
  source.reader.keep("has " + shown(name) + " = " + std::to_string(*token) +
                     "; expected less than the " + std::to_string(vocabulary) +
                     " rows of 'token_embd.weight'");
}

// The number of tokens, and those that begin and end a text.
void read_tokens(Source& source) {
  const auto found = source.gguf.tensors.find("token_embd.weight");
  if (found == source.gguf.tensors.end() || found->second.shape.size() != 2) {
    return source.reader.keep("has no matrix 'token_embd.weight'; expected a row for each token");
  }
  const std::uint64_t vocabulary = found->second.shape[0];
  source.reader.require_count(source.key("vocab_size"), vocabulary);
  source.set("vocab_size", vocabulary, "vocab_size");
  source.made.entries["tie_word_embeddings"] = !source.gguf.tensors.contains("output.weight");
  json::array begins;
  json::array ends;
  read_token(source, "tokenizer.ggml.bos_token_id", vocabulary, begins);
  // A file may say that its tokenizer puts none.
  if (!source.reader.flag("tokenizer.ggml.add_bos_token").value_or(true)) begins.clear();
  read_token(source, "tokenizer.ggml.eos_token_id", vocabulary, ends);
  for (const char* name : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    read_token(source, name, vocabulary, ends);
  }
  if (!begins.empty()) source.made.entries["bos_token_id"] = begins;
  if (!ends.empty()) source.made.entries["eos_token_id"] = ends;
}

// What may stand in any file.
void read_general(Source& source) {
  MetadataReader& reader = source.reader;
  if (const auto type = reader.text("general.type"); type && *type != "model") {
    reader.keep("has 'general.type' = " + shown(*type) + "; expected 'model'");
  }
  reader.require_count("general.quantization_version", 2);
  if (reader.count("split.count").value_or(1) > 1) {
    reader.keep("is one part of a model in several files; expected the whole model in one file");
  }
  reader.require_flag(source.key("attention.causal"), true);
  reader.require_count(source.key("expert_count"), 0);
  reader.require_count(source.key("expert_used_count"), 0);
  // How rows of Llama's queries and keys are ordered, which is one way in all files.
  reader.ignore(source.key("tensor_data_layout"));
  // Names, licences, dates; how a file was quantised; what the tokenizer's reader reads.
  for (const char* begin : {"general.", "split.", "quantize.", "tokenizer."}) {
    reader.ignore_all(begin);
  }
}

}  // namespace

std::string in_keys_of_file(std::string sentence, const GgufConfiguration& from) {
  for (const auto& [entry, key] : from.keys) {
    boost::algorithm::replace_all(sentence, "'" + entry + "'", "'" + key + "'");
  }
  return sentence;
}

Result<GgufConfiguration> gguf_configuration(const Gguf& gguf) {
  MetadataReader first(gguf);
  const auto architecture = first.text("general.architecture");
  if (!first.problem().empty()) return malformed(first.problem());
  if (!architecture) return malformed("has no 'general.architecture'; expected a model");
  const auto* const family = std::ranges::find(families, *architecture, &GgufFamily::architecture);
  if (family == families.end()) {
    std::vector<std::string_view> names;
    for (const GgufFamily& one : families) names.push_back(one.architecture);
    return Error{Error::Kind::unsupported,
                 "has an " + unknown_word("architecture", *architecture, names)};
  }
  Source source{.gguf = gguf, .reader = MetadataReader(gguf), .prefix = *architecture + "."};
  source.made.entries["model_type"] = family->model_type;
  read_general(source);
  read_tokens(source);
  read_sizes(source, *family);
  read_epsilon(source, *family);
  source.made.interleaved = family->interleaved;
  if (!is_gpt2(*family)) read_gguf_rotation(source, family->partial);
  family->rest(source);
  source.reader.finish("a model of architecture " + *architecture);
  if (!source.reader.problem().empty()) return malformed(source.reader.problem());
  return std::move(source.made);
}

}  // namespace kv::model
