#include "kvcheck/tests/model/small_models.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::test {
namespace {

std::string number_bytes(const std::vector<float>& values, Number number) {
  std::string bytes;
  for (const float value : values) {
    if (number == Number::f32) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      const std::uint16_t half = number == Number::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
    }
  }
  return bytes;
}

bool begins_with_any(const std::string& name, const std::vector<std::string>& begins) {
  for (const std::string& begin : begins) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

SmallModel llama_like(bool biases, bool tied) {
  SmallModel model;
  model.add("model.embed_tokens.weight", {32, 16}, 1);
  for (const std::string layer : {"0", "1"}) {
    const std::string at = "model.layers." + layer + ".";
    model.add(at + "input_layernorm.weight", {16}, 0.2F, 1);
    model.add(at + "self_attn.q_proj.weight", {16, 16});
    model.add(at + "self_attn.k_proj.weight", {8, 16});
    model.add(at + "self_attn.v_proj.weight", {8, 16});
    model.add(at + "self_attn.o_proj.weight", {16, 16});
    if (biases) {
      model.add(at + "self_attn.q_proj.bias", {16});
      model.add(at + "self_attn.k_proj.bias", {8});
      model.add(at + "self_attn.v_proj.bias", {8});
    }
    model.add(at + "post_attention_layernorm.weight", {16}, 0.2F, 1);
    model.add(at + "mlp.gate_proj.weight", {24, 16});
    model.add(at + "mlp.up_proj.weight", {24, 16});
    model.add(at + "mlp.down_proj.weight", {16, 24});
  }
  model.add("model.norm.weight", {16}, 0.2F, 1);
  if (!tied) model.add("lm_head.weight", {32, 16});
  return model;
}

}  // namespace

SmallModel& SmallModel::add(const std::string& name,
                            const std::vector<std::size_t>& shape,
                            float spread,
                            float centre) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  std::uint64_t seed = 7;
  for (const char letter : name) seed = seed * 131 + static_cast<unsigned char>(letter);
  const Rng rng(seed);
  SmallTensor tensor{shape, std::vector<float>(size)};
  for (std::size_t i = 0; i < size; ++i) {
    const auto draw = static_cast<float>(rng.uniform(static_cast<std::uint32_t>(i), 0));
    tensor.values[i] = centre + spread * (2 * draw - 1);
  }
  tensors[name] = std::move(tensor);
  return *this;
}

SmallModel& SmallModel::set(std::string_view from, std::string_view to) {
  const std::size_t at = config.find(from);
  if (at == std::string::npos) std::abort();
  config.replace(at, from.size(), to);
  return *this;
}

std::string SmallModel::safetensors(Number number, const std::vector<std::string>& begins) const {
  std::string header;
  std::string data;
  const char* const dtype = number == Number::f32 ? "F32" : number == Number::f16 ? "F16" : "BF16";
  for (const auto& [name, tensor] : tensors) {
    if (!begins_with_any(name, begins)) continue;
    const std::string bytes = number_bytes(tensor.values, number);
    std::string shape;
    for (const std::size_t length : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(length);
    }
    header += (header.empty() ? "\"" : ",\"") + name + R"(":{"dtype":")" + dtype +
              R"(","shape":[)" + shape + R"(],"data_offsets":[)" + std::to_string(data.size()) +
              "," + std::to_string(data.size() + bytes.size()) + "]}";
    data += bytes;
  }
  return container("{" + header + "}", data);
}

std::string SmallModel::write(const std::string& name, Number number) const {
  std::string folder = fresh_folder(name);
  write_into(folder, "config.json", config);
  write_into(folder, "model.safetensors", safetensors(number));
  return folder;
}

SmallModel small_llama() {
  SmallModel model = llama_like(false, false);
  model.config =
      R"({"model_type":"llama","hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,)"
      R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":32,"rms_norm_eps":1e-05,)"
      R"("max_position_embeddings":64,"rope_theta":10000.0,"hidden_act":"silu",)"
      R"("bos_token_id":1,"eos_token_id":[2,3],"tie_word_embeddings":false})";
  return model;
}

SmallModel small_qwen2() {
  SmallModel model = llama_like(true, true);
  model.config =
      R"({"model_type":"qwen2","hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,)"
      R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":32,"rms_norm_eps":1e-06,)"
      R"("max_position_embeddings":64,"rope_theta":1000000.0,"use_sliding_window":false,)"
      R"("tie_word_embeddings":true})";
  return model;
}

SmallModel small_gpt_neox() {
  SmallModel model;
  model.config =
      R"({"model_type":"gpt_neox","hidden_size":16,"intermediate_size":32,"num_hidden_layers":2,)"
      R"("num_attention_heads":2,"vocab_size":32,"layer_norm_eps":1e-05,"rotary_pct":0.5,)"
      R"("max_position_embeddings":64,"rotary_emb_base":10000,"hidden_act":"gelu",)"
      R"("use_parallel_residual":true,"tie_word_embeddings":false})";
  model.add("gpt_neox.embed_in.weight", {32, 16}, 1);
  for (const std::string layer : {"0", "1"}) {
    const std::string at = "gpt_neox.layers." + layer + ".";
    for (const std::string norm : {"input_layernorm", "post_attention_layernorm"}) {
      model.add(at + norm + ".weight", {16}, 0.2F, 1).add(at + norm + ".bias", {16});
    }
    model.add(at + "attention.query_key_value.weight", {48, 16});
    model.add(at + "attention.query_key_value.bias", {48});
    model.add(at + "attention.dense.weight", {16, 16}).add(at + "attention.dense.bias", {16});
    model.add(at + "mlp.dense_h_to_4h.weight", {32, 16}).add(at + "mlp.dense_h_to_4h.bias", {32});
    model.add(at + "mlp.dense_4h_to_h.weight", {16, 32}).add(at + "mlp.dense_4h_to_h.bias", {16});
  }
  model.add("gpt_neox.final_layer_norm.weight", {16}, 0.2F, 1);
  model.add("gpt_neox.final_layer_norm.bias", {16}).add("embed_out.weight", {32, 16});
  return model;
}

SmallModel small_gpt2() {
  SmallModel model;
  model.config =
      R"({"model_type":"gpt2","n_embd":16,"n_layer":2,"n_head":2,"vocab_size":32,)"
      R"("n_positions":64,"n_ctx":64,"layer_norm_epsilon":1e-05,"activation_function":"gelu_new"})";
  model.add("wte.weight", {32, 16}, 1).add("wpe.weight", {64, 16});
  for (const std::string layer : {"0", "1"}) {
    const std::string at = "h." + layer + ".";
    for (const std::string norm : {"ln_1", "ln_2"}) {
      model.add(at + norm + ".weight", {16}, 0.2F, 1).add(at + norm + ".bias", {16});
    }
    model.add(at + "attn.c_attn.weight", {16, 48}).add(at + "attn.c_attn.bias", {48});
    model.add(at + "attn.c_proj.weight", {16, 16}).add(at + "attn.c_proj.bias", {16});
    model.add(at + "mlp.c_fc.weight", {16, 64}).add(at + "mlp.c_fc.bias", {64});
    model.add(at + "mlp.c_proj.weight", {64, 16}).add(at + "mlp.c_proj.bias", {16});
  }
  model.add("ln_f.weight", {16}, 0.2F, 1).add("ln_f.bias", {16});
  return model;
}

std::string small_tokenizer_json(const std::string& rest) {
  std::string vocabulary;
  int next = 0;
  for (int point = 0x21; next < 188; ++point) {
    if ((point > 0x7E && point < 0xA1) || point == 0xAD) continue;
    std::string text;
    if (point < 0x80) {
      text = static_cast<char>(point);
    } else {
      text = {static_cast<char>(0xC0 | point >> 6), static_cast<char>(0x80 | (point & 0x3F))};
    }
    if (text == "\"" || text == "\\") text = "\\" + text;
    vocabulary += "\"" + text + "\":" + std::to_string(next++) + ",";
  }
  for (int point = 256; next < 256; ++point) {
    const std::string text = {static_cast<char>(0xC0 | point >> 6),
                              static_cast<char>(0x80 | (point & 0x3F))};
    vocabulary += "\"" + text + "\":" + std::to_string(next++) + ",";
  }
  return R"({"model":{"type":"BPE","vocab":{)" + vocabulary +
         R"("ab":256,"abc":257},"merges":["a b",["ab","c"]]},)" + rest +
         R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"normalizer":null})";
}

std::string small_llama_that_reads(const std::string& name) {
  SmallModel model = small_llama();
  model.set("vocab_size\":32", "vocab_size\":258");
  model.add("model.embed_tokens.weight", {258, 16}, 1).add("lm_head.weight", {258, 16});
  std::string folder = model.write(name);
  write_into(folder, "tokenizer.json", small_tokenizer_json());
  return folder;
}

std::string fresh_folder(const std::string& name) {
  std::string folder = temporary_path(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void write_into(const std::string& folder, const std::string& name, std::string_view bytes) {
  std::ofstream file(folder + "/" + name, std::ios::binary);
  file << bytes;
}

std::string shared_data(const std::string& path) {
  const char* const shared = std::getenv("KVCHECK_SHARED");
  const std::string folder = shared != nullptr ? shared : KVCHECK_SOURCE_DIR "/../shared";
  return folder + "/data/" + path;
}

}  // namespace kv::test
