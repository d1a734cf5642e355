// What the metadata of a GGUF file say about a model, in the words of a config.json, so that GGUF
// files and Hugging Face directories share one table of families (model/weights/families.h).
#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/gguf/container.h"

namespace kv::model {

struct GgufConfiguration {
  boost::json::object entries;  // as in config.json
  // The file's key behind an entry, where there is one; entries of an object are "object.entry".
  std::map<std::string, std::string> keys;
  // Rotation in pairs of neighbours. llama.cpp's converter orders the rows of queries and keys of
  // some architectures so that its neighbours (2 i, 2 i + 1) are Hugging Face's halves (i, i +
  // n/2). The rows are left where they are, since quantised rows are read from the file, and each
  // pair rotates by the frequency that it has anyway.
  bool interleaved = false;
  // What the frequency of each pair is divided by ('rope_freqs.weight'): llama.cpp's converter
  // writes Llama 3's scaling in this form. Empty: 1.
  std::vector<double> frequency_divisors;
};

// Errors begin with a verb, for a caller that puts the file's name before it; they name the entry.
// Every entry but the tokenizer's is used, known to change nothing, or refused.
//
// Source: in llama.cpp (github.com/ggml-org), the keys of gguf-py, what convert_hf_to_gguf.py
// writes, and what the program computes. Where it assumes a number that no entry holds (Gemma's
// scale of attention, every sixth layer of Gemma 3 without a window, its local base of 10000, every
// fourth layer of SmolLM3 without rotation), so do we.
Result<GgufConfiguration> gguf_configuration(const Gguf& gguf);

// A sentence about entries, with the file's keys in their place.
std::string in_keys_of_file(std::string sentence, const GgufConfiguration& from);

}  // namespace kv::model
