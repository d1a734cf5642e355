// One function per parser or protocol that reads bytes from outside the program.
//
// Each function parses its input, does with the value what the program would do with it, and checks
// with KV_CHECK that the results agree: a canonical text parses to an equal value, what is written
// reads back equal, and numbers are in their range. It returns whether the input was accepted.
//
// An input of several parts has zero bytes between them (fuzz/support/inputs.h). Cost: milliseconds
// for each input that is no longer than the table in fuzz/target_table.h permits.
#pragma once

#include <cstddef>
#include <span>

namespace kv::fuzz {

using Input = std::span<const std::byte>;

// Traces.
bool safetensors(Input input);     // the bytes of a safetensors file
bool trace(Input input);           // a safetensors header without its length, then its data
bool npy(Input input);             // an .npy file
bool npz(Input input);             // an .npz file
bool token_words(Input input);     // the number of tokens, then a list of their texts
bool synthetic_spec(Input input);  // the spec of a synthetic stream

// Specs.
bool spec(Input input);     // a spec
bool storage(Input input);  // how keys and values are stored, a spec, how keys are stored
bool numbers(Input input);  // the numbers of options and lists

// Models and tokenizers.
bool config(Input input);             // a config.json
bool model(Input input);              // a config.json, a safetensors header, its data
bool llama2c(Input input);            // a llama2.c checkpoint
bool gguf(Input input);               // a GGUF file
bool tokenizer_json(Input input);     // a tokenizer.json, a text to encode
bool gpt2_tokenizer(Input input);     // a vocab.json, a merges.txt, a text to encode
bool llama2c_tokenizer(Input input);  // a text to encode, then llama2.c's tokenizer

// Reports.
bool results_file(Input input);    // the bytes of a results file
bool results_rows(Input input);    // changes to the rows of a right results file
bool loss_log(Input input);        // a log of losses
bool figure_names(Input input);    // names and colours for figures
bool kill_matrix(Input input);     // the output of kvcheck selftest --json
bool finished_parts(Input input);  // a key, a part, what follows them in a file of parts

// The battery.
bool conversation(Input input);   // the lines that a subject's program answers
bool requests(Input input);       // the lines that a host asks
bool declarations(Input input);   // the JSON of a contract, a setup, or the facts of a unit
bool history(Input input);        // a case, a contract, and the facts that a cache reports
bool recorded(Input input);       // a file of recorded histories
bool array_history(Input input);  // the same as arrays
bool test_case(Input input);      // a case, or what --reproduce takes

// The command line.
bool sweep_plan(Input input);  // a plan of kvcheck sweep
bool task_items(Input input);  // a file of eval --tasks
bool hypotheses(Input input);  // a file of kvcheck hypotheses
bool arguments(Input input);   // the name of a command, then its arguments

}  // namespace kv::fuzz
