// Traces made of NumPy arrays, and arrays made of traces.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/traces/trace.h"

namespace kv::python {

using SharedTrace = std::shared_ptr<Trace>;

// The arrays of one layer: attention [heads, m, n] alone; or queries [heads, m, d], keys and values
// [kv_heads, n, d], with m recorded queries of n tokens. All are contiguous, of one type, float32
// or float16, and have the sizes that the metadata give.
using LayerArrays = std::vector<pybind11::array>;

// What a trace holds beside its arrays, each part of which may be empty.
struct Words {
  std::vector<std::int32_t> token_ids;
  std::string text;
  std::vector<std::int64_t> text_ends;  // per token: where its bytes end in `text`
};

// What the layers of a trace of vectors do, beside the metadata: per layer, or empty.
struct LayerTables {
  std::vector<Position> queries;  // the positions of the recorded ones, of all layers; empty: all
  std::vector<std::vector<double>> frequencies;
  std::vector<std::vector<float>> sinks;
  std::vector<std::vector<float>> slopes;
};

// A trace over the memory of the arrays, which it keeps alive. `metadata` are those of a trace file
// (traces/FORMAT.md), all of them texts; `numbers` are the model's numbers of the layers. Every
// number is checked as by `kvcheck trace verify`. Throws Failure with the sentence that names what
// is wrong. Cost: one pass over the numbers.
SharedTrace trace_of(const std::string& name,
                     const std::map<std::string, std::string>& metadata,
                     const std::vector<std::size_t>& numbers,
                     const std::vector<LayerArrays>& layers,
                     const LayerTables& tables,
                     const Words& words);

// One block of a layer as a new array, in the type in which it is stored; bf16, which NumPy does
// not have, becomes float32. `which` is attention, queries, keys or values. `layer` is an index.
pybind11::array array_of(const Trace& trace, std::size_t layer, const std::string& which);

// The sizes and texts of a trace, and what its layers do, by the names that the package documents.
pybind11::dict facts_of(const Trace& trace);

// The text of each token; empty if the trace has no text.
std::vector<pybind11::bytes> words_of(const Trace& trace);

}  // namespace kv::python
