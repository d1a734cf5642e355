// Whether a trace of queries, keys and values says all that attention depends on.
#pragma once

#include <cstddef>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/config.h"

namespace kv::model {

// A replay computes attention from a trace's vectors with one rotation by plain frequencies, all
// earlier positions visible and no cap. The error says what of the requested layers, over a text of
// `tokens`, such a trace cannot express; rows of attention express everything.
Result<void> check_vectors_suffice(const ModelConfig& config,
                                   std::span<const std::size_t> layers,
                                   std::size_t tokens);

}  // namespace kv::model
