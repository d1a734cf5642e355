// Small models with random weights of the families that are named like Llama's, with every option
// on: windows, caps, scales, biases and norms.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/tests/model/small_models.h"

namespace kv::test {

// 4 layers, width 16, 4 heads of 8 (stablelm, granite and gpt_neo: of 4) on 2 kv-heads, inner 24,
// vocabulary 32, context 32. `model_type` is one of small_family_names(); `rest` are further
// entries of the configuration, each with a comma before it.
SmallModel small_family(const std::string& model_type, const std::string& rest = "");

std::vector<std::string> small_family_names();

}  // namespace kv::test
