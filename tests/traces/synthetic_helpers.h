// Reads synthetic traces the slow and obvious way, sharing no code with the generators.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::synthetic_test {

// One small spec of each generator, in the order of the registry; sizes that no block, period or
// budget divides.
std::vector<std::string> small_specs();

// Requires a right spec.
SyntheticSpec spec_of(std::string_view text);
Trace make(std::string_view text);

// One number of a stored tensor.
double number_at(const TensorView& view, std::size_t index);

// The stored row of query t, all keys of it; requires kind attention.
std::vector<double> stored_row(const Trace& trace, std::size_t layer, std::size_t head, Position t);

// The causal softmax of q.k / sqrt(head_dim) after the trace's rotation; requires kind qkv.
std::vector<double> computed_row(const Trace& trace,
                                 std::size_t layer,
                                 std::size_t head,
                                 Position t);

// The sum of row[key] over the plant's keys that query t sees.
double mass_on(const Plant& plant, const std::vector<double>& row, Position t);

}  // namespace kv::synthetic_test
