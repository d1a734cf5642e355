// The configurations of published models, as their directories hold them: each opens, with the
// shape that its model card states.
#include "kvcheck/model/weights/config.h"

namespace kv::model {
namespace {

ModelConfig read(const std::string& json) {
  const auto config = parse_config(json);
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : ModelConfig{};
}

TEST(PublishedConfigs, Llama32Of1B) {
  const ModelConfig config = read(
      R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
      R"("bos_token_id":128000,"eos_token_id":128001,"head_dim":64,"hidden_act":"silu",)"
      R"("hidden_size":2048,"initializer_range":0.02,"intermediate_size":8192,)"
      R"("max_position_embeddings":131072,"mlp_bias":false,"model_type":"llama",)"
      R"("num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,)"
      R"("pretraining_tp":1,"rms_norm_eps":1e-05,"rope_scaling":{"factor":32.0,)"
      R"("high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":8192,)"
      R"("rope_type":"llama3"},"rope_theta":500000.0,"tie_word_embeddings":true,)"
      R"("torch_dtype":"bfloat16","transformers_version":"4.45.0.dev0","use_cache":true,)"
      R"("vocab_size":128256})");
  EXPECT_EQ(config.scaling.kind, RopeScaling::Kind::llama3);
  EXPECT_EQ(config.kv_width(), 512U);
}

TEST(PublishedConfigs, Qwen3Of600M) {
  const ModelConfig config = read(
      R"({"architectures":["Qwen3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
      R"("bos_token_id":151643,"eos_token_id":151645,"head_dim":128,"hidden_act":"silu",)"
      R"("hidden_size":1024,"initializer_range":0.02,"intermediate_size":3072,)"
      R"("max_position_embeddings":40960,"max_window_layers":28,"model_type":"qwen3",)"
      R"("num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":8,)"
      R"("rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":1000000,"sliding_window":null,)"
      R"("tie_word_embeddings":true,"torch_dtype":"bfloat16","transformers_version":"4.51.0",)"
      R"("use_cache":true,"use_sliding_window":false,"vocab_size":151936})");
  EXPECT_EQ(config.query_width(), 2048U);
  EXPECT_FALSE(config.has_windows());
  EXPECT_EQ(config.norms.projected, Norms::Projected::head);
}

TEST(PublishedConfigs, SmolLm2Of135M) {
  const ModelConfig config = read(
      R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
      R"("bos_token_id":0,"eos_token_id":0,"hidden_act":"silu","hidden_size":576,)"
      R"("initializer_range":0.041666666666666664,"intermediate_size":1536,)"
      R"("is_llama_config":true,"max_position_embeddings":8192,"model_type":"llama",)"
      R"("num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,)"
      R"("pretraining_tp":1,"rms_norm_eps":1e-05,"rope_interleaved":false,"rope_scaling":null,)"
      R"("rope_theta":100000,"tie_word_embeddings":true,"torch_dtype":"bfloat16",)"
      R"("transformers_version":"4.40.1","use_cache":true,"vocab_size":49152})");
  EXPECT_EQ(config.head_dim, 64U);
  EXPECT_EQ(config.rope.theta, 100000);
}

TEST(PublishedConfigs, Gemma3Of270M) {
  std::string types;
  for (std::size_t i = 1; i <= 18; ++i) {
    types += std::string(i == 1 ? "" : ",") +
             (i % 6 == 0 ? R"("full_attention")" : R"("sliding_attention")");
  }
  const ModelConfig config = read(
      R"({"_sliding_window_pattern":6,"architectures":["Gemma3ForCausalLM"],)"
      R"("attention_bias":false,"attention_dropout":0.0,"attn_logit_softcapping":null,)"
      R"("bos_token_id":2,"eos_token_id":1,"final_logit_softcapping":null,"head_dim":256,)"
      R"("hidden_activation":"gelu_pytorch_tanh","hidden_size":640,"initializer_range":0.02,)"
      R"("intermediate_size":2048,"layer_types":[)" +
      types +
      R"(],"max_position_embeddings":32768,"model_type":"gemma3_text","num_attention_heads":4,)"
      R"("num_hidden_layers":18,"num_key_value_heads":1,"pad_token_id":0,)"
      R"("query_pre_attn_scalar":256,"rms_norm_eps":1e-06,"rope_local_base_freq":10000.0,)"
      R"("rope_scaling":null,"rope_theta":1000000.0,"sliding_window":512,)"
      R"("torch_dtype":"bfloat16","transformers_version":"4.55.0.dev0",)"
      R"("use_bidirectional_attention":false,"use_cache":true,"vocab_size":262144})");
  EXPECT_TRUE(config.tied);
  EXPECT_EQ(config.layer(4).window, 512U);
  EXPECT_EQ(config.layer(5).window, 0U);
  EXPECT_EQ(config.layer(0).query_scale, 1);
}

TEST(PublishedConfigs, TinyLlamaOf1100M) {
  const ModelConfig config = read(
      R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"bos_token_id":1,)"
      R"("eos_token_id":2,"hidden_act":"silu","hidden_size":2048,"initializer_range":0.02,)"
      R"("intermediate_size":5632,"max_position_embeddings":2048,"model_type":"llama",)"
      R"("num_attention_heads":32,"num_hidden_layers":22,"num_key_value_heads":4,)"
      R"("pretraining_tp":1,"rms_norm_eps":1e-05,"rope_scaling":null,"rope_theta":10000.0,)"
      R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"4.35.0",)"
      R"("use_cache":true,"vocab_size":32000})");
  EXPECT_EQ(config.kv_width(), 256U);
}

TEST(PublishedConfigs, PythiaOf70M) {
  const ModelConfig config =
      read(R"({"architectures":["GPTNeoXForCausalLM"],"bos_token_id":0,"eos_token_id":0,)"
           R"("hidden_act":"gelu","hidden_size":512,"initializer_range":0.02,)"
           R"("intermediate_size":2048,"layer_norm_eps":1e-05,"max_position_embeddings":2048,)"
           R"("model_type":"gpt_neox","num_attention_heads":8,"num_hidden_layers":6,)"
           R"("rotary_emb_base":10000,"rotary_pct":0.25,"tie_word_embeddings":false,)"
           R"("torch_dtype":"float16","transformers_version":"4.24.0","use_cache":true,)"
           R"("use_parallel_residual":true,"vocab_size":50304})");
  EXPECT_EQ(config.rope.dims, 16U);
  EXPECT_TRUE(config.parallel);
}

TEST(PublishedConfigs, Gpt2Of124M) {
  const ModelConfig config = read(
      R"({"activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],"attn_pdrop":0.1,)"
      R"("bos_token_id":50256,"embd_pdrop":0.1,"eos_token_id":50256,"initializer_range":0.02,)"
      R"("layer_norm_epsilon":1e-05,"model_type":"gpt2","n_ctx":1024,"n_embd":768,"n_head":12,)"
      R"("n_layer":12,"n_positions":1024,"resid_pdrop":0.1,"summary_activation":null,)"
      R"("summary_first_dropout":0.1,"summary_proj_to_labels":true,"summary_type":"cls_index",)"
      R"("summary_use_proj":true,"task_specific_params":{"text-generation":{"do_sample":true,)"
      R"("max_length":50}},"vocab_size":50257})");
  EXPECT_TRUE(config.learned_positions());
}

TEST(PublishedConfigs, Mistral7B) {
  const ModelConfig config =
      read(R"({"architectures":["MistralForCausalLM"],"bos_token_id":1,"eos_token_id":2,)"
           R"("hidden_act":"silu","hidden_size":4096,"initializer_range":0.02,)"
           R"("intermediate_size":14336,"max_position_embeddings":32768,"model_type":"mistral",)"
           R"("num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,)"
           R"("rms_norm_eps":1e-05,"rope_theta":10000.0,"sliding_window":4096,)"
           R"("tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
           R"("transformers_version":"4.34.0.dev0","use_cache":true,"vocab_size":32000})");
  EXPECT_EQ(config.layer(31).window, 4096U);
}

TEST(PublishedConfigs, Phi3Mini4K) {
  const ModelConfig config = read(
      R"({"_name_or_path":"Phi-3-mini-4k-instruct","architectures":["Phi3ForCausalLM"],)"
      R"("attention_dropout":0.0,"auto_map":{"AutoConfig":"configuration_phi3.Phi3Config"},)"
      R"("bos_token_id":1,"embd_pdrop":0.0,"eos_token_id":32000,"hidden_act":"silu",)"
      R"("hidden_size":3072,"initializer_range":0.02,"intermediate_size":8192,)"
      R"("max_position_embeddings":4096,"model_type":"phi3","num_attention_heads":32,)"
      R"("num_hidden_layers":32,"num_key_value_heads":32,)"
      R"("original_max_position_embeddings":4096,"pad_token_id":32000,"resid_pdrop":0.0,)"
      R"("rms_norm_eps":1e-05,"rope_scaling":null,"rope_theta":10000.0,"sliding_window":2047,)"
      R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"4.40.2",)"
      R"("use_cache":true,"attention_bias":false,"vocab_size":32064})");
  EXPECT_EQ(config.rope.dims, 96U);
}

}  // namespace
}  // namespace kv::model
