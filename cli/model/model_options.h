// The options of every command with a model, and what they name, opened and checked.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/model/codes/store_weights.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

struct OpenedModel {
  model::LanguageModel model;
  std::unique_ptr<model::Tokenizer> tokenizer;
  std::string path;
  bool numbers = false;  // whether the tokenizer reads token numbers and knows no words
};

// From --model and --weights. Errors: no model is given; those of opening it; weights that cannot
// be stored as requested.
Result<model::LanguageModel> opened_weights(const Arguments& arguments);

// From --model, --weights, and --tokenizer or --ids. Errors: also a tokenizer with more tokens than
// the model.
Result<OpenedModel> opened_model(const Arguments& arguments);

// What is put before a text: the configuration's begin token, unless --no-begin is given.
std::optional<model::TokenId> begin_token(const Arguments& arguments, const OpenedModel& opened);

// From --storage.
Result<Number> storage_number(const Arguments& arguments);

// From --storage and --keys.
Result<model::DecoderOptions> decoder_options(const Arguments& arguments);

// The form in which results show these options: "f32", "f16, keys raw".
std::string storage_text(const Arguments& arguments, const model::DecoderOptions& options);

// The form in which results show the model: "llama", "gpt_neox; layers' weights as int8".
std::string architecture_text(const Arguments& arguments, const model::ModelConfig& config);

// Notes if the storage of a spec that names none is not the one that its preset was published with,
// or if a storage is so exact that it has no effect.
std::vector<std::string> storage_notes(const Arguments& arguments,
                                       const KvFormat& storage,
                                       std::span<const Cell> cells);

// From -o, --json, --csv and --markdown. Errors: a file without a name, or one that is `input` or
// the model.
Result<Outputs> outputs_of(const Arguments& arguments, const std::string& input);

// From --threads: as many as the process may use, unless it is given.
Result<std::size_t> threads_of(const Arguments& arguments);

// The same as a team for one decoder.
Result<std::shared_ptr<Team>> team_of(const Arguments& arguments);

// The text of the file that --text, or another option, names.
Result<std::string> text_of_file(const Arguments& arguments, std::string_view option = "text");

// From --policy, --budget, --chunk and --seed: the cells, in the order of plan_cells.
Result<std::vector<Cell>> model_cells(const Arguments& arguments,
                                      std::vector<std::string> otherwise);

// The same for a command that runs one policy at one budget.
Result<Cell> model_cell(const Arguments& arguments);

// The table for DecoderOptions if the policy of a cell uses the classes of tokens; otherwise null.
std::shared_ptr<const std::vector<TokenClass>> token_classes_for(const OpenedModel& opened,
                                                                 std::span<const Cell> cells);

// Adds what the tokenizer knows to the options, as far as the policy of a cell needs it: the table
// of classes, and the request to repeat a prompt.
void add_words(const OpenedModel& opened,
               std::span<const Cell> cells,
               model::DecoderOptions& options);

// The options that model commands share in their tables.
inline constexpr Option model_option = {
    .name = "model",
    .value = "PATH",
    .help = "a directory with config.json and safetensors, a GGUF file, or a llama2.c checkpoint"};
inline constexpr Option tokenizer_option = {
    .name = "tokenizer",
    .value = "PATH",
    .help =
        "tokenizer.json, a folder with vocab.json and merges.txt, a GGUF file, or llama2.c's "
        "tokenizer [what lies in or beside the model]"};
inline constexpr Option ids_option = {
    .name = "ids", .help = "the text is token numbers between white space; no tokenizer is opened"};
inline constexpr Option no_begin_option = {
    .name = "no-begin",
    .help = "put no begin token before the text, though the configuration names one"};
inline constexpr Option policy_option = {
    .name = "policy",
    .value = "SPEC",
    .help = "a policy with its fields, or a preset (@name) [dense]",
    .list = true};
inline constexpr Option weights_option = {
    .name = "weights",
    .value = "as-is|f32|int8|nf4",
    .default_value = "as-is",
    .help =
        "how the layers' weights are stored: as in their file, as f32, in a byte with a scale per "
        "row, or in half a byte with a scale per 64; codes of a large model are kept beside it"};
inline constexpr Option storage_option = {
    .name = "storage",
    .value = "WORD[:FIELD=N,...]",
    .default_value = "f32",
    .help =
        "how keys and values are stored where the policy names no storage=: f32, f16, bf16; or as "
        "codes: int8 (a scale per vector), "
        "int4 (per 32 channels), kivi4, kivi2 (keys per channel of 32 tokens), with the newest "
        "recent=N (kivi: 128) and the first sinks=N tokens in full precision, full=f32|f16|bf16 "
        "and group=N channels (int8, int4: 0 is all channels of a vector)"};
inline constexpr Option keys_option = {
    .name = "keys",
    .value = "WORD",
    .default_value = "rotated",
    .help =
        "how keys are stored: rotated, raw (before rotation), or rotated-f16, which with "
        "positions=shifted rotates them in f16 arithmetic"};

inline constexpr Option threads_option = {
    .name = "threads",
    .value = "N",
    .help = "threads to use, 1 to 1024 [all that it may use]; results do not depend on it"};

}  // namespace kv::cli
