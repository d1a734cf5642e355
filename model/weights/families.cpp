#include "kvcheck/model/weights/families.h"

#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "kvcheck/model/weights/family_readers.h"

namespace kv::model {
namespace {

using Kind = Norms::Kind;
using Projected = Norms::Projected;

constexpr SizeNames usual = {"hidden_size",         "num_hidden_layers", "num_attention_heads",
                             "num_key_value_heads", "intermediate_size", "max_position_embeddings"};
constexpr SizeNames of_gpt_neox = {"hidden_size",         "num_hidden_layers",
                                   "num_attention_heads", "",
                                   "intermediate_size",   "max_position_embeddings"};
constexpr SizeNames of_gpt2 = {"n_embd", "n_layer", "n_head", "", "n_inner", "n_positions"};
constexpr SizeNames of_gpt_neo = {
    "hidden_size", "num_layers", "num_heads", "", "intermediate_size", "max_position_embeddings"};

constexpr Norms pre_rms = {};
constexpr Norms pre_layer = {.kind = Kind::layer};
constexpr Norms gemma_norms = {.kind = Kind::rms_from_one};
constexpr Norms gemma2_norms = {.kind = Kind::rms_from_one, .after = true};
constexpr Norms gemma3_norms = {
    .kind = Kind::rms_from_one, .after = true, .projected = Projected::head};
constexpr Norms qwen3_norms = {.projected = Projected::head};
constexpr Norms olmo2_norms = {.before = false, .after = true, .projected = Projected::whole};

// Dropouts and initial weights matter in training only; the others say how a program runs.
constexpr auto harmless = std::to_array<std::string_view>({"_name_or_path",
                                                           "architectures",
                                                           "torch_dtype",
                                                           "dtype",
                                                           "transformers_version",
                                                           "use_cache",
                                                           "initializer_range",
                                                           "pad_token_id",
                                                           "unk_token_id",
                                                           "sep_token_id",
                                                           "decoder_start_token_id",
                                                           "attention_dropout",
                                                           "hidden_dropout",
                                                           "hidden_dropout_prob",
                                                           "attention_probs_dropout_prob",
                                                           "embedding_dropout",
                                                           "embed_dropout",
                                                           "resid_dropout",
                                                           "resid_pdrop",
                                                           "embd_pdrop",
                                                           "attn_pdrop",
                                                           "classifier_dropout",
                                                           "gradient_checkpointing",
                                                           "output_attentions",
                                                           "output_hidden_states",
                                                           "return_dict",
                                                           "use_return_dict",
                                                           "torchscript",
                                                           "auto_map",
                                                           "custom_pipelines",
                                                           "task_specific_params",
                                                           "_attn_implementation",
                                                           "attn_implementation",
                                                           "_flash_attn_2_enabled",
                                                           "_attn_implementation_autoset",
                                                           "cache_implementation",
                                                           "id2label",
                                                           "label2id",
                                                           "num_labels",
                                                           "_num_labels",
                                                           "output_past",
                                                           "problem_type",
                                                           "finetuning_task",
                                                           "tokenizer_class",
                                                           "prefix",
                                                           "max_length",
                                                           "min_length",
                                                           "do_sample",
                                                           "temperature",
                                                           "top_k",
                                                           "top_p",
                                                           "typical_p",
                                                           "num_beams",
                                                           "num_beam_groups",
                                                           "diversity_penalty",
                                                           "repetition_penalty",
                                                           "length_penalty",
                                                           "no_repeat_ngram_size",
                                                           "encoder_no_repeat_ngram_size",
                                                           "bad_words_ids",
                                                           "num_return_sequences",
                                                           "output_scores",
                                                           "return_dict_in_generate",
                                                           "forced_bos_token_id",
                                                           "forced_eos_token_id",
                                                           "remove_invalid_values",
                                                           "exponential_decay_length_penalty",
                                                           "suppress_tokens",
                                                           "begin_suppress_tokens",
                                                           "early_stopping",
                                                           "chunk_size_feed_forward",
                                                           "is_decoder",
                                                           "tf_legacy_loss",
                                                           "transformers.js_config",
                                                           "unsloth_fixed",
                                                           "unsloth_version"});

constexpr auto llama_harmless =
    std::to_array<std::string_view>({"pretraining_tp", "is_llama_config", "max_sequence_length"});
// Its windows are in the layers that do not rotate, whatever the entry says.
constexpr auto smollm3_harmless =
    std::to_array<std::string_view>({"pretraining_tp", "max_window_layers"});
// The first context matters to longrope only, which reads it.
constexpr auto phi3_harmless =
    std::to_array<std::string_view>({"original_max_position_embeddings"});
constexpr auto gpt2_harmless = std::to_array<std::string_view>(
    {"n_special", "predict_special_tokens", "reorder_and_upcast_attn", "summary_activation",
     "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"});

constexpr std::string_view rms_eps = "rms_norm_eps";
constexpr std::string_view gelu_tanh = "gelu_pytorch_tanh";
constexpr auto llama = Architecture::llama;

// One row per family, in the order of the members of Family.
constexpr std::array<Family, 15> table = {{
    {"llama", llama, usual, pre_rms, rms_eps, 1e-6, "hidden_act", "silu", true, false, 0, 1e4,
     read_llama, llama_harmless},
    {"mistral", llama, usual, pre_rms, rms_eps, 1e-6, "hidden_act", "silu", true, false, 0, 1e4,
     read_mistral},
    {"qwen2", llama, usual, pre_rms, rms_eps, 1e-6, "hidden_act", "silu", true, false, 0, 1e4,
     read_qwen2},
    {"qwen3", llama, usual, qwen3_norms, rms_eps, 1e-6, "hidden_act", "silu", true, false, 128, 1e4,
     read_qwen3},
    {"smollm3", llama, usual, pre_rms, rms_eps, 1e-6, "hidden_act", "silu", true, true, 0, 2e6,
     read_smollm3, smollm3_harmless},
    {"gemma", llama, usual, gemma_norms, rms_eps, 1e-6, "hidden_activation", gelu_tanh, true, true,
     256, 1e4, read_gemma},
    {"gemma2", llama, usual, gemma2_norms, rms_eps, 1e-6, "hidden_activation", gelu_tanh, true,
     true, 256, 1e4, read_gemma2},
    {"gemma3_text", llama, usual, gemma3_norms, rms_eps, 1e-6, "hidden_activation", gelu_tanh, true,
     true, 256, 1e6, read_gemma3},
    {"phi3", Architecture::phi3, usual, pre_rms, rms_eps, 1e-5, "hidden_act", "silu", true, false,
     0, 1e4, read_phi3, phi3_harmless},
    {"olmo2", llama, usual, olmo2_norms, rms_eps, 1e-5, "hidden_act", "silu", true, false, 0, 1e4,
     read_olmo2},
    {"granite", llama, usual, pre_rms, rms_eps, 1e-6, "hidden_act", "silu", true, false, 0, 1e4,
     read_granite},
    {"stablelm", llama, usual, pre_layer, "layer_norm_eps", 1e-5, "hidden_act", "silu", true, false,
     0, 1e4, read_stablelm},
    {"gpt_neox", Architecture::gpt_neox, of_gpt_neox, pre_layer, "layer_norm_eps", 1e-5,
     "hidden_act", "gelu", false, false, 0, 1e4, read_gpt_neox},
    {"gpt2", Architecture::gpt2, of_gpt2, pre_layer, "layer_norm_epsilon", 1e-5,
     "activation_function", "gelu_new", false, true, 0, 0, read_gpt2, gpt2_harmless},
    {"gpt_neo", Architecture::gpt_neo, of_gpt_neo, pre_layer, "layer_norm_epsilon", 1e-5,
     "activation_function", "gelu_new", false, true, 0, 0, read_gpt_neo, gpt2_harmless},
}};

}  // namespace

std::span<const Family> families() {
  return table;
}

std::span<const std::string_view> harmless_entries() {
  return harmless;
}

}  // namespace kv::model
