#include "kvcheck/tests/model/gguf_models.h"

#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/small_families.h"

namespace kv::test {

SmallGguf write_gguf(const SmallModel& model,
                     const std::string& type,
                     const std::string& metadata,
                     const std::string& tokenizer) {
  const std::string source = model.write("gguf-source");
  if (!tokenizer.empty()) write_into(source, "tokenizer.json", tokenizer);
  write_into(source, "metadata.json", metadata);
  SmallGguf made{.folder = fresh_folder("gguf-" + type), .file = {}};
  made.file = made.folder + "/model.gguf";
  EXPECT_TRUE(model::run_python("gguf_writer.py", source + " " + type + " " + made.folder));
  return made;
}

SmallModel family_for_gguf(const std::string& model_type, const std::string& rest) {
  if (model_type == "gpt2") return small_gpt2();
  if (model_type == "gpt_neox") return small_gpt_neox();
  SmallModel model = small_family(model_type, rest);
  if (model_type == "qwen2" || model_type == "qwen3") {
    model.set(R"("use_sliding_window":true,"sliding_window":6,)", "");
  }
  if (model_type == "smollm3") {
    model.set(R"("no_rope_layers":[1,0,1,1],"use_sliding_window":true,"sliding_window":9)",
              R"("no_rope_layers":[1,1,1,0])");
  }
  // The length of its heads, as in all files but those of the largest models.
  if (model_type == "gemma2" || model_type == "gemma3_text")
    model.set(R"("query_pre_attn_scalar":5)", R"("query_pre_attn_scalar":8)");
  return model;
}

SmallModel wide_llama(std::size_t vocabulary) {
  SmallModel model;
  model.config =
      R"({"model_type":"llama","hidden_size":256,"intermediate_size":256,"num_hidden_layers":2,)"
      R"("num_attention_heads":4,"num_key_value_heads":2,"max_position_embeddings":64,)"
      R"("rms_norm_eps":1e-05,"vocab_size":)" +
      std::to_string(vocabulary) + "}";
  model.add("model.embed_tokens.weight", {vocabulary, 256}, 1);
  for (const std::string layer : {"0", "1"}) {
    const std::string at = "model.layers." + layer + ".";
    for (const std::string norm : {"input_layernorm", "post_attention_layernorm"}) {
      model.add(at + norm + ".weight", {256}, 0.2F, 1);
    }
    for (const std::string name : {"self_attn.k_proj", "self_attn.v_proj"}) {
      model.add(at + name + ".weight", {128, 256}, 0.06F);
    }
    for (const std::string name : {"self_attn.q_proj", "self_attn.o_proj", "mlp.gate_proj",
                                   "mlp.up_proj", "mlp.down_proj"}) {
      model.add(at + name + ".weight", {256, 256}, 0.06F);
    }
  }
  model.add("model.norm.weight", {256}, 0.2F, 1);
  model.add("lm_head.weight", {vocabulary, 256}, 0.06F);
  return model;
}

}  // namespace kv::test
