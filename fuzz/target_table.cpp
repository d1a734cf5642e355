#include "kvcheck/fuzz/target_table.h"

#include <algorithm>
#include <array>

namespace kv::fuzz {
namespace {

constexpr std::array<Target, 33> table = {{
    {"safetensors", 4096, safetensors},
    {"trace", 4096, trace},
    {"npy", 2048, npy},
    {"npz", 4096, npz},
    {"synthetic_spec", 256, synthetic_spec},
    {"spec", 256, spec},
    {"storage", 256, storage},
    {"numbers", 64, numbers},
    {"config", 2048, config},
    {"model", 16384, model},
    {"llama2c", 8192, llama2c},
    {"gguf", 16384, gguf},
    {"tokenizer_json", 4096, tokenizer_json},
    {"gpt2_tokenizer", 4096, gpt2_tokenizer},
    {"llama2c_tokenizer", 2048, llama2c_tokenizer},
    {"results_file", 65536, results_file},
    {"results_rows", 512, results_rows},
    {"loss_log", 2048, loss_log},
    {"token_words", 1024, token_words},
    {"figure_names", 1024, figure_names},
    {"kill_matrix", 4096, kill_matrix},
    {"finished_parts", 1024, finished_parts},
    {"conversation", 4096, conversation},
    {"requests", 4096, requests},
    {"declarations", 2048, declarations},
    {"history", 4096, history},
    {"recorded", 4096, recorded},
    {"array_history", 4096, array_history},
    {"test_case", 512, test_case},
    {"task_items", 2048, task_items},
    {"sweep_plan", 2048, sweep_plan},
    {"hypotheses", 2048, hypotheses},
    {"arguments", 512, arguments},
}};

}  // namespace

std::span<const Target> targets() {
  return table;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Target::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv::fuzz
