// What each family reads of a configuration beside the entries that all have. Private to
// model/weights; the table of model/weights/families.cpp names them.
#pragma once

#include "kvcheck/model/weights/config.h"
#include "kvcheck/model/weights/config_reader.h"

namespace kv::model {

void read_llama(ConfigReader& reader, ModelConfig& config);
void read_mistral(ConfigReader& reader, ModelConfig& config);
void read_qwen2(ConfigReader& reader, ModelConfig& config);
void read_qwen3(ConfigReader& reader, ModelConfig& config);
void read_smollm3(ConfigReader& reader, ModelConfig& config);
void read_gemma(ConfigReader& reader, ModelConfig& config);
void read_gemma2(ConfigReader& reader, ModelConfig& config);
void read_gemma3(ConfigReader& reader, ModelConfig& config);
void read_phi3(ConfigReader& reader, ModelConfig& config);
void read_olmo2(ConfigReader& reader, ModelConfig& config);
void read_granite(ConfigReader& reader, ModelConfig& config);
void read_stablelm(ConfigReader& reader, ModelConfig& config);
void read_gpt_neox(ConfigReader& reader, ModelConfig& config);
void read_gpt2(ConfigReader& reader, ModelConfig& config);
void read_gpt_neo(ConfigReader& reader, ModelConfig& config);

}  // namespace kv::model
