// Small models with random weights, written as Hugging Face directories or llama2.c checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"

namespace kv::test {

// A tensor's shape and numbers.
struct SmallTensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

// A model directory before it is written: tests change the parts.
struct SmallModel {
  std::string config;  // the text of config.json
  std::map<std::string, SmallTensor> tensors;

  // Adds a tensor of random numbers around `centre`, the same for the same name.
  SmallModel& add(const std::string& name,
                  const std::vector<std::size_t>& shape,
                  float spread = 0.3F,
                  float centre = 0);

  // Replaces the first `from` in the configuration.
  SmallModel& set(std::string_view from, std::string_view to);

  // The bytes of a safetensors file with the tensors whose names begin with one of `begins`.
  [[nodiscard]] std::string safetensors(Number number,
                                        const std::vector<std::string>& begins = {""}) const;

  // Writes config.json and model.safetensors to a new folder of this name and gives its path.
  [[nodiscard]] std::string write(const std::string& name, Number number = Number::f32) const;
};

// 2 layers, width 16, 4 heads of 4 on 2 kv-heads, inner 24, vocabulary 32, context 64.
SmallModel small_llama();
// The same with biases and no output layer of its own.
SmallModel small_qwen2();
// 2 layers, width 16, 2 heads of 8 of which 4 dimensions rotate, inner 32, vocabulary 32, context
// 64.
SmallModel small_gpt_neox();
SmallModel small_gpt2();

// A byte-level BPE tokenizer: every byte, then "ab" and "abc", 258 tokens. `rest` is put between
// its entries.
std::string small_tokenizer_json(const std::string& rest = "");

// small_llama() with a vocabulary of 258, and the tokenizer above, as a folder of that name.
std::string small_llama_that_reads(const std::string& name);

// Writes `bytes` as `folder`/`name`, making the folder.
void write_into(const std::string& folder, const std::string& name, std::string_view bytes);

// A new, empty folder of this process.
std::string fresh_folder(const std::string& name);

// Where the lent data lies, and whether it is there: `path` is below its data folder.
std::string shared_data(const std::string& path);

}  // namespace kv::test
